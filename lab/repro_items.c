/* SPDX-License-Identifier: Apache-2.0 */
/* repro_items.c - what the four papers define, claim and run, and what of it is here: `tacet-lab repro items`, and the
 * last table of docs/reproduction.md. Ring: programs. "part" says what is missing; "no" is not here. Lemmas that are
 * steps of a proof are listed where code or a correction stands for them. */
#include "repro.h"

#include <stdio.h>
#include <string.h>

typedef struct item {
    const char *paper, *name, *what, *done, *where, *command;
} item;

#define O "outsourced"
#define C "central"
#define U "contextual"
#define L "local"
static const item ITEMS[] = {
    {O, "Definitions 1, 2", "neighbours, (eps, delta)-DP", "yes", "src/outsourced/README.md", "tacet curate"},
    {O, "Lemma 1, Theorem 4", "Johnson-Lindenstrauss projection", "yes",
     "src/outsourced/trusted/published_projection.c", "tacet curate --mechanism published"},
    {O, "Algorithm 1", "the curator's transformation", "yes", "src/outsourced/trusted/published_projection.c",
     "tacet curate --mechanism published"},
    {O, "Algorithm 2", "the modeler's GP-UCB", "yes", "src/gp/gp_ucb.c", "tacet-lab gp-ucb"},
    {O, "Theorem 1", "Algorithm 1 is private: refuted", "yes", "src/outsourced/README.md",
     "tacet audit control:published-projection"},
    {O, "Theorems 2, 5", "distances kept by the projection, as a number", "yes", "lab/repro_bounds.c",
     "tacet-lab repro bounds"},
    {O, "Definition 3", "diagonal dominance, which Theorem 3 assumes: how many queries have it", "yes",
     "src/outsourced/README.md", "tacet-lab repro bounds"},
    {O, "Theorem 3", "regret bound with every constant, beside the measured one", "yes", "src/outsourced/README.md",
     "tacet-lab repro bounds"},
    {O, "Remarks 1 to 6", "choice of r, of eps, of the threshold", "yes",
     "src/outsourced/trusted/published_projection.c", "tacet curate --suggest-r"},
    {O, "Tables 1 to 12", "simple regret", "yes", "lab/repro_outsourced.c", "tacet-lab repro outsourced-table-1"},
    {O, "Figures 2, 3", "regret against eps", "yes", "lab/repro_outsourced.c", "tacet-lab repro outsourced-figure-2"},
    {C, "Definitions 1 to 3", "information gain, uniform approximation, spectral bounds", "yes",
     "src/central/README.md", "tacet-lab simulate central"},
    {C, "Definition 4, Lemma 1, Theorem 2, Remark 2", "quadrature Fourier features and their error", "yes",
     "src/gp/features_qff.c", "tacet-lab simulate central --algorithm published"},
    {C, "Definition 5", "noisy features", "yes", "src/central/open/noisy_ucb.c",
     "tacet-lab simulate central --algorithm published"},
    {C, "QFF, modified Matern kernel", "in one dimension, and sums of such", "yes", "src/gp/features_qff.c",
     "tacet-lab simulate central --algorithm published --world drawn --dim 1"},
    {C, "Definition 6", "joint DP of the server", "yes", "src/central/README.md", "tacet audit central"},
    {C, "Definition 7, Lemmas 4, 5", "local joint DP, which is joint DP; corrected sensitivities", "yes",
     "src/local/trusted/statistics_device.c", "tacet audit local-statistics"},
    {C, "Algorithm 1", "server and privatizer", "yes", "src/central/open/noisy_ucb.c",
     "tacet-lab simulate central --algorithm published"},
    {C, "Algorithm 2, Lemma 2", "the tree, and its noise in five readings", "yes",
     "src/central/trusted/published_tree.c", "tacet-lab simulate central --algorithm published"},
    {C, "Algorithm 3", "clients add the noise", "yes", "src/local/open/statistics_policy.c",
     "tacet study create --policy statistics"},
    {C, "Lemma 3", "the shift", "yes", "src/central/open/noisy_ucb.c",
     "tacet-lab simulate central --algorithm published"},
    {C, "Theorems 1, 4", "width of the confidence set", "yes", "src/central/open/noisy_ucb.c",
     "tacet-lab simulate central --algorithm published"},
    {C, "Theorems 3, 5, Corollary 2", "regret bound, as a number", "yes", "lab/repro_bounds.c",
     "tacet-lab repro bounds"},
    {C, "Lemma 6, Corollary 3", "regret bound, local", "yes", "lab/repro_bounds.c", "tacet-lab repro bounds"},
    {C, "Remark 1", "parameters are released for free", "yes", "src/central/trusted", "tacet study release"},
    {C, "Remark 3, Corollaries 1, 4", "choice of m", "yes", "lab/repro_bounds.c", "tacet-lab repro bounds"},
    {C, "Assumption 1, Remark 4", "which kernels have features", "yes", "src/gp/features.md",
     "tacet-lab simulate central"},
    {C, "Remark 5", "unknown horizon: T doubles, and m with it", "yes", "lab/sim_central.c",
     "tacet-lab simulate central --algorithm published --unknown-horizon"},
    {C, "Remarks 6, 7", "dependence on m; local against central", "yes", "docs/reproduction.md",
     "tacet-lab repro central-figure-1"},
    {C, "Figures 1, 2, Table 1", "regret", "yes", "lab/repro_central.c", "tacet-lab repro central-table-1"},
    {C, "additive and product domains", "in studies: a list of points and a kernel that is a sum over groups", "yes",
     "src/service/open/study/definition.c", "tacet study create --groups 0,0,1"},
    {U, "Theorem 2.1, Definition 2.2", "exponential mechanism", "yes", "src/dp/mechanisms/exponential.c",
     "tacet audit exponential"},
    {U, "Definitions 2.4, 2.5, Assumptions 2.3 to 2.9", "neighbours, joint DP, the setting", "yes",
     "src/contextual/README.md", "tacet learn"},
    {U, "Lemma 3.1, Definition 3.2", "estimator and surrogate variance, any T", "yes", "src/contextual/shared/basis.c",
     "tacet-lab choose"},
    {U, "Algorithm USCA, eqs. (4), (5)", "dense, with the random set Z", "yes",
     "src/contextual/shared/published_dense.c", "tacet-lab simulate contextual --algorithm faithful"},
    {U, "Lemma 4.3", "sup-error, as a diagnostic, and with the constants of Lemma 6.3", "yes",
     "lab/contextual_theory.c", "tacet-lab simulate contextual --algorithm published"},
    {U, "Lemmas 4.4, 7.1", "sensitivity: a certified supremum", "yes", "src/contextual/shared/certify.c",
     "tacet-lab choose"},
    {U, "Theorems 4.1, 8.2", "error: its rate, and the bound with its constants", "yes", "lab/contextual_theory.c",
     "tacet-lab repro bounds"},
    {U, "more than four coordinates", "additive kernels", "yes", "src/contextual/README.md",
     "tacet learn --groups 0,1,2,0,1,2"},
    {L, "Definition 1", "(eps, delta)-LDP", "yes", "src/local/README.md", "tacet audit device"},
    {L, "CTL, Lemma 1", "curate, truncate, Laplace", "yes", "src/dp/mechanisms/randomizer.c", "tacet device report"},
    {L, "Theorem 1, Remark 1", "lower bound, as a number", "yes: up to its constant, which the paper does not give",
     "lab/sim_local.c", "tacet-lab repro local-figure-2"},
    {L, "Algorithm 1, Theorem 2, Remark 2", "LDP-ATA-GP-UCB", "yes", "src/local/open/ata.c",
     "tacet-lab simulate local --algorithm ata"},
    {L, "Algorithm 2, Theorem 3, Remark 3", "LDP-TGP-UCB", "yes", "src/local/open/width.c",
     "tacet-lab simulate local --algorithm tgp"},
    {L, "Algorithm 3, Theorem 4, Corollary 1, Remark 4", "MoMA-GP-UCB", "yes", "src/local/open/moma.c",
     "tacet-lab simulate local --algorithm moma --mechanism none --noise pareto --alpha 0.5"},
    {L, "Algorithm 4, Definition 2", "Nystrom embedding, its accuracy", "yes", "src/local/open/nystrom.c",
     "tacet-lab simulate local --algorithm ata"},
    {L, "sub-Weibull truncation (ln t)^theta", "", "yes", "src/local/open/width.c",
     "tacet-lab simulate local --algorithm tgp --mechanism none --noise weibull --theta 1"},
    {L, "(eps, delta) rule for unbounded noise", "", "yes", "src/local/shared/ldp.c", "tacet calibrate range"},
    {L, "RKHS norm B", "a check: what the reports say it is at least", "yes", "src/local/open/norm.c",
     "tacet-lab simulate local --bound norm"},
    {L, "precomputed kernels", "in studies: prior.covariance", "yes", "src/service/open/study/policies.c",
     "tacet study create --definition"},
    {L, "information gain gamma_T", "by greedy design, and realised", "yes", "lab/repro_bounds.c",
     "tacet-lab repro bounds"},
    {L, "Figures 2, 3", "synthetic, light, stocks", "yes", "lab/repro_local.c", "tacet-lab repro local-figure-2"},
};
#undef O
#undef C
#undef U
#undef L
enum { ITEM_COUNT = sizeof ITEMS / sizeof *ITEMS };

void repro_items_markdown(FILE *file) {
    fprintf(file, "\n## What of the papers is here\n\nPrinted by `tacet-lab repro items`.\n\n"
                  "| paper | item | what | here | where | command |\n| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < ITEM_COUNT; i++) {
        const item *t = &ITEMS[i];
        const char *tick = t->command[0] != '\0' ? "`" : "";
        fprintf(file, "| %s | %s | %s | %s | %s | %s%s%s |\n", t->paper, t->name, t->what, t->done, t->where, tick,
                t->command, tick);
    }
}

json_t *repro_items_json(void) {
    json_t *list = json_array();
    for (size_t i = 0; i < ITEM_COUNT; i++) {
        const item *t = &ITEMS[i];
        (void)json_array_append_new(list,
                                    json_pack("{ss ss ss ss ss ss}", "paper", t->paper, "item", t->name, "what",
                                              t->what, "here", t->done, "where", t->where, "command", t->command));
    }
    return list;
}
