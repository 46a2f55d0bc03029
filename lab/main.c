/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-lab: seeded experiments on made-up data. Ring: none; nothing it touches is private. */
#include "commands.h"

static const cli_command COMMANDS[] = {
    {"simulate outsourced", "private release, modeler, regret: many seeded trials",
     "[--scenario NAME] [--mechanism NAME] [options]",
     "Makes a problem, releases its records by a mechanism, lets a modeler that sees only the release query rows, and "
     "prints the simple regret (distance of the best queried record from the best of all) with its standard error.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet simulate outsourced --eps 3.004166 --delta 1e-5 --trials 100 --json\n"
     "tacet simulate outsourced --mechanism published --trials 100\n"
     "tacet simulate outsourced --scenario csv --data houses.csv --inputs lat,lon --target price --log --minimize",
     lab_sim_outsourced},
    {"bench gp-ucb", "GP-UCB against the speed of memory", "[--n N] [--d D] [--queries T] [options]",
     "Runs GP-UCB on a made-up problem and, in turn, a plain dgemv over the same bytes of V that the model must read: "
     "that is the limit of the machine. One thread. Each is done --repeats times, alternating; the best time of each "
     "counts, so that a busy machine disturbs both alike.\n\n"
     "JSON: seconds (all of GP-UCB: making the model, suggestions, observations), stream_seconds, ratio, peak_bytes "
     "(of the process, GP-UCB alone), allowed_bytes (1.2 x 8 n T and the data).",
     "tacet bench gp-ucb --n 100000 --d 5 --queries 200 --json", lab_bench_gp_ucb},
    {"simulate central", "joint-DP bandits on made-up users, regret: many seeded trials",
     "[--algorithm NAME] [--eps E] [--delta D] [--rounds T] [options]",
     "Each round is a user with a decision set of arms (points of the ball of radius 2 in the plane), one of them "
     "good; the algorithm shows one arm and gets a reward of 0 or 1. Both are private towards all other users. Prints "
     "the cumulative regret with its standard error.\n\n"
     "shipped releases growing batches, each shaped to tell most (decode: two vectors of a stream); published is the "
     "algorithm of the paper, with its own noise or the proven one; nonprivate and random are the two ends.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet simulate central --eps 1 --delta 1e-5 --rounds 1024 --trials 40 --json\n"
     "tacet simulate central --algorithm published --calibration published --trials 4",
     lab_sim_central},
    {"simulate local-statistics", "bandits whose users add their own noise, regret: many seeded trials",
     "[--algorithm NAME] [--eps E] [--delta D] [--rounds T] [options]",
     "The problem of 'tacet simulate central', but nobody is trusted: each user scores the arms by the public model, "
     "and reports one noisy vector. Prints the cumulative regret with its standard error.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet simulate local-statistics --eps 1 --delta 0.1 --rounds 1024 --trials 40 --json", lab_sim_local_statistics},
    {"simulate local", "local privacy: randomised rewards, learner, regret: many seeded trials",
     "[--algorithm NAME] [--mechanism NAME] [--parameters NAME] [options]",
     "Each round the learner plays an arm and a device reports its reward, clipped and randomised. Prints the "
     "cumulative regret, and the same relative to uniform random play, with standard errors.\n\n"
     "literal parameters are those of the published theorems, tight the smallest for which their proofs (or better "
     "ones) hold, orderwise drops constants as published experiments do, tuned has no guarantee.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet simulate local --eps 1 --trials 10 --json\n"
     "tacet simulate local --algorithm tgp --mechanism laplace --parameters literal\n"
     "tacet simulate local --algorithm moma --mechanism none --noise student3 --parameters orderwise\n"
     "tacet simulate local --scenario stocks --kernel precomputed --data DIR --range true",
     lab_sim_local},
    {"simulate tune", "settings chosen on private records: many seeded trials", "[options]",
     "Tunes made-up problems, or tables of real ones, with the product's own code and seeded noise, and says how far the "
     "chosen setting lies below the best, in hundredths, beside one round over all settings (flat), the best of as many "
     "random settings and a Gaussian process with expected improvement, the last two not private. 'guided' is not "
     "shipped: a Gaussian process on noisy scores proposes.",
     "tacet-lab simulate tune --records 1000 --eps 1 --evaluations 100 --trials 30 --json\n"
     "tacet-lab simulate tune --world table --data wine.csv,cancer.csv --records 200 --eps 3",
     lab_sim_tune},
    {"simulate contextual", "contextual choices with pure eps: many seeded trials",
     "[--algorithm NAME] [--rounds T] [--eps E] [options]",
     "Draws functions over actions and contexts, logs uniform actions with noisy rewards, lets an algorithm learn from "
     "the log, and prints the expected error: best reward in a context less the reward of the chosen action, averaged "
     "over contexts and trials, with its standard error.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet simulate contextual --law skew --rounds 5000 --eps 1 --trials 20 --seed 1 --json\n"
     "tacet simulate contextual --algorithm published --kernel matern52 --dim-action 2 --lengthscale 0.5",
     lab_sim_contextual},
    {"simulate ab", "A/B logs: the rule learnt from one noisy table, many seeded trials",
     "[--world NAME] [--rows T] [--eps E] [options]",
     "Draws a world (what each action earns in each context), a log of it, releases one table of the log and learns a "
     "rule. Prints the share of the possible uplift over even play, beside noisy counts of the same table, the same "
     "without noise and the best single action; how often 95 % intervals cover, and how wide they are.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet simulate ab --world main --trials 60 --seed 1 --json", lab_sim_ab},
    {"repro", "the papers' tables and figures beside ours", "NAME | list | items | bounds | all [options]",
     "Runs a table or figure of one of the four papers: the paper's value, ours as published, ours as shipped with the "
     "guarantee that really holds, standard errors. 'list' names them, 'all' runs all of them, 'bounds' puts the "
     "theorems into numbers, 'items' says of every definition, theorem and algorithm of the papers what is here.\n\n"
     "Uses all processors; results depend on settings and seed alone. With --out the results of finished cells are "
     "kept, and a run that was interrupted goes on.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet repro list\n"
     "tacet repro outsourced-table-1 --trials 50 --seed 1 --json\n"
     "tacet repro central-figure-1 --quick --report joint.html\n"
     "tacet repro all --quick --data DIR --out results --markdown reproduction.md",
     lab_repro},
    {"plan", "expected regret against eps, before anything is spent", "--model NAME [options]",
     "States a problem (candidates, coordinates, lengthscale, noise, queries or rounds, trust model) and simulates it "
     "on made-up functions at several eps, with random choices and the non-private reference on the same functions "
     "beside it: a table, a chart with --report, and advice in a sentence.\n\n"
     "An eps is called better than random when the mean gain over random, function by function, exceeds two of its "
     "standard errors (one-sided, false alarms about 2.5 % for each eps), and close to non-private when it keeps 90 % "
     "of the non-private gain. The non-private reference of the outsourced model is the same modeler on rows whose "
     "noise is negligible (eps = 100).\n\n"
     "Nothing is read and nothing is spent; what is planned with is made up.",
     "tacet plan --model outsourced --candidates 2000 --dim 3 --lengthscale 0.2 --queries 40 --eps 0.5,1,2,4,8 "
     "--report plan.html\n"
     "tacet plan --model outsourced --mechanism laplace --dim 2 --eps 0.5,1,2,4\n"
     "tacet plan --model central --candidates 25 --dim 2 --lengthscale 0.25 --rounds 1000 --eps 1,10\n"
     "tacet plan --model local --rounds 20000 --eps 0.5,1,2 --json",
     lab_plan},
    {NULL, NULL, NULL, NULL, NULL, NULL}};

const cli_program PROGRAM = {
    .name = "tacet-lab",
    .summary = "Experiments on made-up problems.",
    .ring = "none (made-up data only)",
    .commands = COMMANDS,
};
