/* SPDX-License-Identifier: Apache-2.0 */
/* repro_items.c - every numbered item of the four papers: where it is here, a command that shows it, and whether ours
 * is faithful. `tacet-lab repro items`, and the last table of docs/reproduction.md. Ring: programs. A test runs every
 * command as it is printed and looks for every file and symbol. "step" is a step of a proof without a program of its
 * own; "wrong" begins what we found wrong in the paper. */
#include "repro.h"

#include <stdio.h>
#include <string.h>

typedef struct item {
    const char *paper, *number, *what, *where, *command, *verdict;
} item;

#define PUBLISHED_C "src/outsourced/trusted/published_projection.c"
#define UCB_C "src/central/open/noisy_ucb.c"
#define POLICY_C "src/central/trusted/published_policy.c"
#define TREE_C "src/central/trusted/published_tree.c"
#define THEOREMS_C "lab/repro_theorems.c"
#define BOUNDS_C "lab/repro_bounds.c"
#define WIDTH_C "src/local/open/width.c"
#define BOUNDS "tacet-lab repro bounds --trials 1"
#define IF "tacet-lab simulate outsourced --mechanism published --trials 2"
#define ELSE "tacet-lab simulate outsourced --mechanism published --eps 1 --trials 2"
#define ATTACK "tacet audit control:published-projection --runs 2000"
#define CENTRAL "tacet-lab simulate central --algorithm published --calibration published --rounds 64 --trials 2"
#define PROVEN "tacet-lab simulate central --algorithm published --rounds 64 --trials 2"
#define STATISTICS "tacet-lab simulate local-statistics --algorithm published --rounds 64 --trials 2"
#define USCA "tacet-lab simulate contextual --algorithm faithful --rounds 100 --trials 1"
#define PUBLISHED "tacet-lab simulate contextual --algorithm published --rounds 1000 --trials 2"
#define LOCAL(a)                                                                                                       \
    "tacet-lab simulate local --algorithm " a " --mechanism laplace --parameters literal --rounds 500 --trials 2"
#define DATA " --trials 2 --data ../shared/data"

#define O "outsourced"
#define C "central"
#define U "contextual"
#define L "local"
static const item ITEMS[] = {
    {O, "Definition 1", "neighbours: one record moves by at most 1", "src/outsourced/README.md", IF, "faithful"},
    {O, "Definition 2", "(eps, delta)-DP", "src/dp/open/calibrate.c", "tacet calibrate gaussian --eps 1 --delta 1e-5",
     "faithful"},
    {O, "Definition 3", "diagonal dominance of the queries' covariance", BOUNDS_C, BOUNDS,
     "faithful; of 50 queries few have it, so that Theorem 3 does not apply to the experiments"},
    {O, "Lemma 1", "Johnson-Lindenstrauss for all pairs", BOUNDS_C, BOUNDS, "faithful; r = 10 is far below its r"},
    {O, "Lemma 2", "ratio of two densities", "src/outsourced/README.md", ATTACK,
     "wrong: the densities live on different subspaces of R^n, so that their ratio bounds nothing"},
    {O, "Lemma 3", "confidence of GP-UCB", "src/gp/gp_ucb.c",
     "tacet-lab simulate outsourced --mechanism nonprivate --trials 2", "faithful: beta_t of Algorithm 2"},
    {O, "Lemma 4", "regret of a distorted acquisition", BOUNDS_C, BOUNDS, "step of Theorem 3"},
    {O, "Lemmas 5, 6", "C_1 and C_2", "lab/repro_bounds.c:regret_bound", BOUNDS,
     "faithful as printed, and with two slips mended (src/outsourced/README.md, Regret)"},
    {O, "Lemma 7", "raised singular values stretch distances", THEOREMS_C, BOUNDS, "faithful"},
    {O, "Lemmas 8 to 12", "norms of covariance matrices", "src/outsourced/README.md", BOUNDS, "steps of Theorem 3"},
    {O, "Theorem 1", "Algorithm 1 is (eps, delta)-DP", "src/outsourced/README.md", ATTACK,
     "wrong: d + 1 known records give all others; no delta < 1 holds"},
    {O, "Theorem 2", "distances under Algorithm 1", BOUNDS_C, BOUNDS, "faithful"},
    {O, "Theorem 3", "regret bound, all constants", "lab/repro_bounds.c:regret_bound", BOUNDS,
     "faithful; where its assumption holds it is above what any choice of rows has"},
    {O, "Theorem 4", "Johnson-Lindenstrauss for one vector", BOUNDS_C, BOUNDS, "faithful (cited)"},
    {O, "Theorem 5", "change of the covariance, C", THEOREMS_C, BOUNDS, "faithful"},
    {O, "Algorithm 1", "the curator", PUBLISHED_C ":tacet_published_project", IF,
     "faithful; the radical of omega covers the logarithm, since only that fits the printed thresholds"},
    {O, "Algorithm 2", "the modeler", "src/gp/gp_ucb.c", IF, "faithful"},
    {O, "Remark 1", "r, nu and mu", BOUNDS_C, BOUNDS, "faithful"},
    {O, "Remarks 2, 6", "the else branch: constant of the bound", THEOREMS_C, BOUNDS,
     "faithful: sqrt(12) C L is a floor that no r removes"},
    {O, "Remarks 3, 4", "role of eps_ucb and eps", "src/outsourced/README.md", ELSE, "faithful"},
    {O, "Remark 5", "one side of Theorem 5", THEOREMS_C, BOUNDS, "faithful"},
    {O, "r, section 3.4", "the largest r with sigma_min >= omega", PUBLISHED_C ":tacet_published_suggest_r", IF,
     "faithful"},
    {O, "omega, line 5", "threshold", PUBLISHED_C ":tacet_published_omega", ELSE, "faithful, see Algorithm 1"},
    {O, "footnote 4", "inputs over lengthscales", "lab/outsourced_problem.c:stretch",
     "tacet-lab simulate outsourced --scenario branin --mechanism published --sigma-min 189 --trials 2",
     "differs: inputs are stretched to the sigma_min that the tables imply; a fit on Branin gives the same"},
    {O, "hyper-parameters", "maximum likelihood", "lab/fit.c:lab_fit", BOUNDS,
     "differs: the authors' fitted values are used; ours are fitted for footnote 4"},
    {O, "Figure 1", "the two parties", "docs/PROTOCOL.md", IF, "faithful: curator and modeler are two programs"},
    {O, "Figure 2", "regret against eps", "lab/repro_outsourced.c", "tacet-lab repro outsourced-figure-2 --trials 2",
     "panels on data differ: other tables than the paper's"},
    {O, "Figure 3", "Branin, regret against eps", "lab/repro_outsourced.c",
     "tacet-lab repro outsourced-figure-3 --trials 2", "faithful, every row in the paper's branch"},
    {O, "Tables 1 to 3", "grid, regret against r", "lab/repro_outsourced.c",
     "tacet-lab repro outsourced-table-1 --trials 2", "faithful"},
    {O, "Tables 4 to 6", "loans", "lab/repro_outsourced.c", "tacet-lab repro outsourced-table-4" DATA,
     "differs: the paper's table is not public"},
    {O, "Tables 7 to 9", "property", "lab/repro_outsourced.c", "tacet-lab repro outsourced-table-7" DATA,
     "differs: other rows than the paper's"},
    {O, "Tables 10 to 12", "Branin", "lab/repro_outsourced.c", "tacet-lab repro outsourced-table-10 --trials 2",
     "faithful, every row in the paper's branch; a regret of 0.0 does not come out"},

    {C, "Definition 1", "information gain", "lab/repro_bounds.c:gains", BOUNDS, "faithful: greedy design"},
    {C, "Definition 2", "uniform approximation", "lab/repro_bounds.c:feature_error", BOUNDS, "faithful"},
    {C, "Definition 3", "spectral bounds of the noise", UCB_C ":tacet_noisy_ucb_spectrum", CENTRAL, "faithful"},
    {C, "Definition 4", "quadrature Fourier features", "src/gp/features_qff.c", CENTRAL,
     "differs: m stands for the order and H is not squared there; the whole grid of nodes, one of each pair"},
    {C, "Definition 5", "noisy features", UCB_C, CENTRAL, "faithful: sums and noise are added up"},
    {C, "Definition 6", "joint DP", "src/central/README.md", PROVEN, "faithful"},
    {C, "Definition 7", "local joint DP", "src/local/trusted/statistics_device.c", STATISTICS, "faithful"},
    {C, "Assumption 1", "spectra that factor", "src/gp/features_qff.c:tacet_features_create_qff_product",
     "tacet-lab simulate central --algorithm published --world drawn --dim 2 --rounds 32 --trials 1",
     "faithful; the modified Matern kernel is the product over coordinates"},
    {C, "Lemmas 1, 9", "a function close to f", "src/gp/features.md", BOUNDS, "faithful (cited): B eps, as a number"},
    {C, "Lemmas 2, 12", "noise of the tree", POLICY_C ":tacet_central_published_noise", BOUNDS,
     "wrong: five readings, 12 to 4,000 times what is needed here, too little where B or alpha is large"},
    {C, "Lemma 3", "shift and kappa", UCB_C ":tacet_noisy_ucb_spectrum", CENTRAL, "faithful"},
    {C, "Lemmas 4, 13", "local joint DP is joint DP", "src/central/README.md", STATISTICS, "faithful"},
    {C, "Lemma 5", "noise of a report", "lab/sim_local_statistics.c:lemma_5",
     "tacet-lab simulate local-statistics --algorithm published --calibration published --eps 10 --rounds 64 --trials "
     "2",
     "wrong: sensitivities entry by entry; the matrix has delta 0.24 where 0.05 is claimed"},
    {C, "Lemma 6", "spectrum of local noise", UCB_C ":tacet_noisy_ucb_spectrum", STATISTICS, "faithful"},
    {C, "Lemma 7", "tail of a reward", "src/central/README.md", PROVEN,
     "differs: rewards are clipped; a bound with high probability is none over neighbours"},
    {C, "Lemma 8", "the Gaussian mechanism", THEOREMS_C, BOUNDS,
     "differs: exact calibration; the formula gives delta 0.41 for 0.1 at eps = 10"},
    {C, "Lemma 10", "norm of the close function", "src/gp/features.md", BOUNDS, "step of Theorem 1"},
    {C, "Lemma 11", "variance of the features", THEOREMS_C, BOUNDS, "faithful, as a number"},
    {C, "Theorems 1, 4", "width of the confidence set", UCB_C ":solve", CENTRAL,
     "differs: without t B eps/(rho sqrt lambda_min), which is in the bounds"},
    {C, "Theorem 2", "error of the features", "lab/repro_theorems.c:theorem_2", BOUNDS,
     "faithful; says nothing of the experiment's own domain up to an order of 12"},
    {C, "Theorems 3, 5", "regret bound, both terms in eps", "lab/repro_theorems.c:width_and_regret", BOUNDS,
     "faithful; above T for every T that was run. The two differ: 2 T^3 sqrt(beta eps) and beta T^3 sqrt eps"},
    {C, "Corollaries 1, 4", "m = 2 (6 ln T)^d, and (6 ln T)^d", "lab/repro_bounds.c:choices_of_m", BOUNDS,
     "faithful; the two disagree by the 2"},
    {C, "Corollaries 2, 3", "regret under joint and local joint DP", "lab/repro_bounds.c:central_regret", BOUNDS,
     "faithful, with constants"},
    {C, "Algorithm 1", "server", UCB_C, CENTRAL, "faithful; a V that is not positive definite is repaired and counted"},
    {C, "Algorithm 2", "privatizer: the tree", TREE_C ":tacet__tree_step",
     "tacet-lab simulate central --algorithm published --leaves --rounds 64 --trials 2",
     "as printed with --leaves, where noise grows as sqrt t; else fresh noise in every node"},
    {C, "Algorithm 3", "clients add the noise", "lab/sim_local_statistics.c", STATISTICS, "faithful"},
    {C, "Remark 1", "parameters are released for free", "src/central/README.md", PROVEN, "faithful"},
    {C, "Remark 2", "m > nu^-2", "lab/repro_bounds.c:choices_of_m", BOUNDS, "faithful"},
    {C, "Remarks 3, 4", "choice of m; which kernels", "lab/repro_bounds.c:choices_of_m", BOUNDS, "faithful"},
    {C, "Remark 5", "unknown T", "lab/sim_central.c:run_doubling",
     "tacet-lab simulate central --algorithm published --unknown-horizon --rounds 32 --trials 1",
     "faithful: each period has the order 6 ln T of its own T, up to 64"},
    {C, "Remark 6", "dependence on m", "lab/repro_theorems.c:small_lemmas", BOUNDS, "faithful"},
    {C, "Remark 7", "joint against local", "lab/repro_theorems.c:small_lemmas", BOUNDS, "faithful"},
    {C, "Figures 1, 2", "regret against alpha and beta", "lab/repro_central.c",
     "tacet-lab repro central-figure-1 --trials 1 --rounds 64", "the figures print no numbers"},
    {C, "Table 1", "three benchmarks", "lab/repro_central.c", "tacet-lab repro central-table-1 --trials 1 --rounds 60",
     "the paper gives no noise, scaling or kernels: levels agree by chance alone"},

    {U, "Theorem 2.1", "Mercer", "src/gp/features_span.c:tacet_features_create_mercer", BOUNDS, "faithful (cited)"},
    {U, "Definition 2.2", "polynomial eigendecay", "lab/repro_theorems.c:contextual_lemmas", BOUNDS,
     "faithful: C_p as a number"},
    {U, "Assumption 2.3", "bounded eigenfunctions, F", "lab/repro_theorems.c:suprema", BOUNDS,
     "wrong as an assumption: on a box no F bounds all of them; F is of those that T records resolve"},
    {U, "Definitions 2.4, 2.5", "neighbours; joint DP", "src/contextual/README.md", PUBLISHED, "faithful"},
    {U, "Assumptions 2.6 to 2.10", "noise, bounded rewards, Lipschitz f, a cover, contexts to draw",
     "src/contextual/README.md", PUBLISHED, "faithful; rewards are clipped"},
    {U, "Algorithm 1", "USCA with the random set Z", "src/contextual/shared/published_dense.c", USCA, "faithful"},
    {U, "Lemmas 3.1, 9.1", "estimator and surrogate variance", "src/contextual/shared/published_dense.c", USCA,
     "faithful; any T by features, to 1e-11 of the dense form"},
    {U, "Definition 3.2", "exponential measure on the actions", "lab/choose.c:cover_price", PUBLISHED,
     "differs: on a grid of actions, eps-DP by the same proof; its price is told by `choose`"},
    {U, "Theorems 4.1, 8.2", "error rate, all constants", "lab/contextual_theory.c", BOUNDS,
     "faithful; above 2, which is trivial, for every T that was run"},
    {U, "Lemmas 4.2, 7.1", "sensitivity 2 B sup sigma^2", "src/contextual/shared/certify.c", BOUNDS,
     "faithful; the supremum is certified, not on the event of Lemma 6.1"},
    {U, "Lemmas 4.3, 6.3", "sup-error", "lab/contextual_theory.c", PUBLISHED, "faithful"},
    {U, "Lemmas 4.4, 6.1", "spectrum of the covariance", "lab/repro_theorems.c:spectral", BOUNDS,
     "faithful: bound, one draw, N_1; N of T_0 is of a paper that is cited"},
    {U, "Lemma 6.2", "beta_1", "lab/contextual_theory.c:beta_1", BOUNDS,
     "faithful; sqrt(162 B^3/13 F^2) is read as sqrt(162 B^3 F^2/13)"},
    {U, "Lemma 7.2, Theorem 7.3", "USCA is eps-DP, eps-joint DP", "src/contextual/README.md",
     "tacet audit contextual-choice --runs 2000", "faithful, with the certified supremum"},
    {U, "Lemma 8.1", "volume of good actions", "lab/repro_theorems.c:volume", BOUNDS, "faithful"},
    {U, "K = T/gamma_T", "size of Z", "src/contextual/shared/published_dense.c", USCA,
     "faithful; printed once rounded down and twice up: up"},
    {U, "rate", "the paper has no experiments; its rate, drawn", "lab/repro_contextual.c", PUBLISHED,
     "ours: `tacet-lab repro contextual-rate`"},

    {L, "Definition 1", "(eps, delta)-LDP", "src/local/README.md", "tacet audit device:laplace --runs 2000",
     "faithful"},
    {L, "Curator 1, Lemma 1", "convert to Laplace, CTL(eps)", "src/dp/mechanisms/randomizer.c",
     "tacet audit device:laplace --runs 2000", "faithful; rewards are clipped, the noise is exact"},
    {L, "Theorem 1, Remark 1", "lower bound", "lab/sim_local.c:theorem_1", BOUNDS,
     "faithful up to its constant, which the paper does not give"},
    {L, "Appendix A", "hard functions and rewards (11)", "lab/local_hard.c:local_problem_hard",
     "tacet-lab simulate local --scenario hard --rounds 2000 --trials 2",
     "faithful; w is the least with norm B instead of its order, C is 1"},
    {L, "Lemmas 2 to 4", "steps of the lower bound", "lab/local_hard.c",
     "tacet-lab simulate local --scenario hard --rounds 2000 --trials 2", "steps of Theorem 1"},
    {L, "Algorithm 1", "LDP-ATA-GP-UCB", "src/local/open/ata.c",
     "tacet-lab simulate local --algorithm ata --mechanism laplace --parameters literal --arms 20 --rounds 300 "
     "--trials 2 --eager",
     "as printed with --eager; else rebuilt when det V grew by half. b_t for all history (erratum 3)"},
    {L, "Theorem 2, Remark 2", "regret of ATA", "lab/repro_theorems.c:local_regrets", BOUNDS,
     "faithful as an order; its proof takes u as known too early (erratum 11)"},
    {L, "Algorithm 2", "LDP-TGP-UCB", WIDTH_C ":tacet__local_beta_tgp", LOCAL("tgp"), "faithful; beta_1 = B for ln 0"},
    {L, "Theorem 3, Remark 3", "regret of TGP", "lab/repro_theorems.c:local_regrets", BOUNDS,
     "faithful as an order; not uniform in t as printed (erratum 15)"},
    {L, "Algorithm 3", "MoMA-GP-UCB", "src/local/open/moma.c", LOCAL("moma"), "faithful"},
    {L, "Theorem 4, Remark 4", "regret of MoMA", "lab/repro_theorems.c:local_regrets", BOUNDS,
     "faithful as an order; beta lost lambda^-1/2 (erratum 6)"},
    {L, "Corollary 1", "regret of LDP-MoMA", "lab/repro_theorems.c:local_regrets", BOUNDS, "faithful as an order"},
    {L, "Lemmas 5 to 7", "identities, sum of variances", BOUNDS_C, BOUNDS, "steps of Theorem 3"},
    {L, "Definition 2, Lemmas 8, 9", "accuracy of a dictionary", "lab/repro_theorems.c:dictionary", BOUNDS,
     "faithful; Lemma 8's union must be an intersection"},
    {L, "Algorithm 4", "Nystrom embedding", "src/local/open/nystrom.c", LOCAL("ata"),
     "wrong: (K^-1/2)^+ approximates no kernel; (K^1/2)^+ is meant (erratum 2)"},
    {L, "Lemmas 10, 11", "median of means", "src/local/open/moma.c", LOCAL("moma"),
     "wrong: e^(-k/24) needs e^(-k/72); a majority suffices with k = 8 ln(4eT/delta) (erratum 7)"},
    {L, "section 4.5", "unbounded noise, sub-Weibull", "src/local/shared/ldp.c:tacet_local_noise_range",
     "tacet calibrate range --theta 1 --tail-a 1 --tail-b 1 --rounds 10000 --delta 1e-6 --lo 0 --hi 1",
     "differs: devices clip, so that eps stays pure"},
    {L, "section 5.1", "data and B = max of f", "lab/local_problem.c",
     "tacet-lab simulate local --bound norm --rounds 500 --trials 2",
     "wrong: max f is no bound of the norm (erratum 10)"},
    {L, "Figure 1", "epochs and lanes of MoMA", "src/local/open/moma.c", LOCAL("moma"), "faithful"},
    {L, "Figures 2, 3", "three algorithms", "lab/repro_local.c",
     "tacet-lab repro local-figure-2 --trials 1 --rounds 300",
     "MoMA is lowest without privacy alone; T, eps and constants are not in the paper"},
};
#undef O
#undef C
#undef U
#undef L
enum { ITEM_COUNT = sizeof ITEMS / sizeof *ITEMS };

void repro_items_markdown(FILE *file) {
    fprintf(file, "\n## Every item of the papers\n\nPrinted by `tacet-lab repro items`; a test runs every command.\n\n"
                  "| paper | item | what | where | command | faithful? |\n| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < ITEM_COUNT; i++) {
        const item *t = &ITEMS[i];
        fprintf(file, "| %s | %s | %s | `%s` | `%s` | %s |\n", t->paper, t->number, t->what, t->where, t->command,
                t->verdict);
    }
}

json_t *repro_items_json(void) {
    json_t *list = json_array();
    for (size_t i = 0; i < ITEM_COUNT; i++) {
        const item *t = &ITEMS[i];
        (void)json_array_append_new(list, json_pack("{ss ss ss ss ss ss}", "paper", t->paper, "item", t->number, "what",
                                                    t->what, "where", t->where, "command", t->command, "verdict",
                                                    t->verdict));
    }
    return list;
}
