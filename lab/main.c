/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-lab: seeded experiments on made-up data, the unprotected reference, and what only papers need.
 * Ring: none, but that gp-ucb reads the table it is given: so the program is guarded as a trusted one. */
#include "commands.h"

static const cli_command COMMANDS[] = {
    {"simulate outsourced", "private release, modeler, regret: many seeded trials",
     "[--world NAME] [--mechanism NAME] [options]",
     "Makes a problem, releases its records by a mechanism, lets a modeler that sees only the release query rows, and "
     "prints the simple regret (distance of the best queried record from the best of all) with its standard error.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet-lab simulate outsourced --eps 3.004166 --delta 1e-5 --trials 100 --json\n"
     "tacet-lab simulate outsourced --mechanism published --trials 100\n"
     "tacet-lab simulate outsourced --world csv --data houses.csv --inputs lat,lon --target price --minimize",
     lab_sim_outsourced},
    {"simulate central", "joint-DP bandits on made-up users, regret: many seeded trials",
     "[--algorithm NAME] [--eps E] [--delta D] [--rounds T] [options]",
     "Each round is a user with a decision set of arms (points of the ball of radius 2 in the plane), one of them "
     "good; the algorithm shows one arm and gets a reward of 0 or 1. Both are private towards all other users. Prints "
     "the cumulative regret with its standard error.\n\n"
     "shipped releases growing batches, each shaped to tell most, or of counted arms; published is the "
     "algorithm of the paper, with its own noise or the proven one; nonprivate and random are the two ends.\n\n"
     "With --world local-statistics nobody is trusted: each user scores the arms by the public model, and reports "
     "one noisy vector.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet-lab simulate central --eps 1 --delta 1e-5 --rounds 1024 --trials 40 --json\n"
     "tacet-lab simulate central --algorithm published --calibration published --trials 4",
     lab_sim_central},
    {"simulate local", "local privacy: randomised rewards, learner, regret: many seeded trials",
     "[--algorithm NAME] [--mechanism NAME] [--parameters NAME] [options]",
     "Each round the learner plays an arm and a device reports its reward, clipped and randomised. Prints the "
     "cumulative regret, and the same relative to uniform random play, with standard errors.\n\n"
     "literal parameters are those of the published theorems, tight the smallest for which their proofs (or better "
     "ones) hold, orderwise drops constants as published experiments do, tuned has no guarantee.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet-lab simulate local --eps 1 --trials 10 --json\n"
     "tacet-lab simulate local --algorithm tgp --mechanism laplace --parameters literal\n"
     "tacet-lab simulate local --algorithm moma --mechanism none --reward-law student3 --parameters orderwise\n"
     "tacet-lab simulate local --world stocks --kernel precomputed --datasets DIR --true-range",
     lab_sim_local},
    {"simulate tune", "settings chosen on private records: many seeded trials", "[options]",
     "Tunes made-up problems, or tables of real ones, with the product's own code and seeded noise, and says how far "
     "the chosen setting lies below the best, in hundredths, beside one round over all settings (flat), the best of as "
     "many random settings and a Gaussian process with expected improvement, the last two not private.",
     "tacet-lab simulate tune --records 1000 --eps 1 --evaluations 100 --trials 30 --json\n"
     "tacet-lab simulate tune --data wine.csv,cancer.csv --records 200 --eps 3",
     lab_sim_tune},
    {"simulate contextual", "contextual choices with pure eps: many seeded trials",
     "[--algorithm NAME] [--rounds T] [--eps E] [options]",
     "Draws functions over actions and contexts, logs uniform actions with noisy rewards, lets an algorithm learn from "
     "the log, and prints the expected error: best reward in a context less the reward of the chosen action, averaged "
     "over contexts and trials, with its standard error.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet-lab simulate contextual --law skew --rounds 5000 --eps 1 --trials 20 --seed 1 --json\n"
     "tacet-lab simulate contextual --algorithm published --lengthscale 0.5",
     lab_sim_contextual},
    {"simulate ab", "A/B logs: the rule learnt from one noisy table, many seeded trials",
     "[--world NAME] [--rows T] [--eps E] [options]",
     "Draws a world (what each action earns in each context), a log of it, releases one table of the log and learns a "
     "rule. Prints the share of the possible uplift over even play, beside noisy counts of the same table, the same "
     "without noise and the best single action; how often 95 % intervals cover, and how wide they are.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet-lab simulate ab --world main --trials 60 --seed 1 --json", lab_sim_ab},
    {"simulate stopping", "running A/B tests that are looked at all the time: many seeded trials",
     "[--rate P] [--lift X] [options]",
     "Every ticket of a study at eps = 1 gets an arm by a fair coin and a reward of 0 or 1; after each release the "
     "test says whether an arm "
     "is "
     "ahead. Prints how often it was wrong at any look, and after how many tickets it was right.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet-lab simulate stopping --rate 0.04 --lift 1.2 --trials 400 --json", lab_sim_stopping},
    {"repro", "the papers' tables and figures beside ours", "NAME | list | items | bounds | all [options]",
     "Runs a table or figure of one of the four papers: the paper's value, ours as published, ours as shipped with the "
     "guarantee that really holds, standard errors. 'list' names them, 'all' runs all of them, 'bounds' puts the "
     "theorems into numbers, 'items' says of every definition, theorem and algorithm of the papers what is here.\n\n"
     "Uses all processors; results depend on settings and seed alone. With --out the results of finished cells are "
     "kept, and a run that was interrupted goes on.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet-lab repro list\n"
     "tacet-lab repro outsourced-table-1 --trials 50 --seed 1 --json\n"
     "tacet-lab repro central-figure-1 --quick --markdown joint.md\n"
     "tacet-lab repro all --quick --datasets DIR --out results --markdown reproduction.md",
     lab_repro},
    {"gp-ucb", "plain GP-UCB over a table; unprotected, the reference",
     "--data FILE --inputs A,B,… --target COLUMN --lengthscale L,… --queries N [options]",
     "Finds the row of a table with the largest target by asking for few of them: GP-UCB with a Gaussian process over "
     "the inputs. The targets of rows not asked are used for nothing but the regret at the end.\n\n"
     "UNPROTECTED: this command reads every record and protects nothing. It is the reference for the private "
     "methods.\n\n"
     "Round t asks the row with the largest mean + sqrt(beta_t) sd, beta_t = 2 ln(n t^2 pi^2/(6 d)), d = half of "
     "--delta-ucb, t from 1. Rows are numbered from 0; ties go to the lowest row.\n\n"
     "JSON: rows (in the order asked), values, best_row (best measured), simple_regret (best target in the table less "
     "the best one measured), seconds, model_best_row (best posterior mean), the settings used, and protection.",
     "tacet-lab gp-ucb --data F.csv --inputs x1,x2 --target y --kernel se --lengthscale 6.25 --noise-var 1e-5 "
     "--queries 50\n"
     "tacet-lab gp-ucb --data homes.csv --inputs lat,lon --target price --lengthscale 0.1 --queries 30 --json",
     lab_gp_ucb},
    {"noise", "raw exact noise on stdout, for anyone to test", "KIND --scale S --count N [options]",
     "Writes draws of the library's own samplers, as every mechanism uses them, so that other tools can test them. "
     "KIND is gaussian or laplace (a real draw rounded to the nearest multiple of the grid), "
     "discrete-laplace (mass on the multiples), knorm (one vector of N coordinates with density exp(-|v|/S), "
     "rounded), or bit (1 with probability exp(-S), else 0).\n\n"
     "The grid is a power of two, S / 2^B or the next one below, and is named on stderr; every value is a whole "
     "multiple of it, exactly. Draws come from the operating system's entropy and differ from run to run unless "
     "--noise-seed is given, which is for tests and is stamped not private.",
     "tacet-lab noise gaussian --scale 2.5 --count 1000000 --format f64le > draws\n"
     "tacet-lab noise laplace --scale 1 --count 10 --grid-bits 4\n"
     "tacet-lab noise bit --scale 0.5 --count 20 --noise-seed 7 --json",
     lab_noise},
    {NULL, NULL, NULL, NULL, NULL, NULL}};

const cli_program PROGRAM = {
    .name = "tacet-lab",
    .summary = "Experiments: made-up problems, the papers' tables, unprotected references.",
    .ring = "trusted (gp-ucb reads a table; all else is made up)",
    .commands = COMMANDS,
    .front = "tacet-lab",
};
