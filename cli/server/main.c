/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-server: the suggestion service, and what is done to its studies.
 * Ring: trusted. Sees the decision sets and rewards of central studies. */
#include "keys/keys.h"
#include "server/commands.h"

static const cli_command COMMANDS[] = {
    {"server init", "make the TLS keys of a server", "--dir DIR [--host NAME,…] [--days N]",
     "Makes a certificate authority of its own and a server certificate for the hosts. Several servers of one store "
     "may share it: name every host, and the balancer's. Give ca.pem to the clients; keep the rest. A certificate of "
     "another authority does as well: put it and its key into a folder "
     "as server.pem and server.key.",
     "tacet server init --dir keys --host localhost,127.0.0.1", keys_server},
    {"server", "serve studies over HTTPS: suggest, observe, release",
     "--store DIR|URL --keys DIR [--listen HOST:PORT] [options]",
     "Answers the requests of docs/API.md for every study in the store, central and local. Nothing is answered before "
     "it is durable. Several servers may share one PostgreSQL store and be added, stopped or killed at any time: they "
     "take turns under the lock of the study's row. docs/deployment.md has a balancer that sends a study to one of "
     "them, "
     "which is faster.\n\n"
     "Prints the address it listens on, as JSON with --json, and runs until it is told to stop (SIGINT, SIGTERM). "
     "Whoever only collects reports of local studies runs 'tacet collector' instead, which holds nothing private.",
     "tacet server --store studies --keys keys\n"
     "tacet server --store postgresql://tacet_trusted@db/tacet,postgresql://tacet_open@db/tacet --keys "
     "keys --listen 0.0.0.0:8443",
     cmd_server},
    {"study create", "add a study; its budget is charged as it learns",
     "--store DIR|URL (--definition FILE | --name NAME --trust MODEL --eps E …)",
     "Checks the definition and stores it in its canonical form; it never changes afterwards. Everything in it is "
     "public: bounds, ranges and lengthscales must not be computed from private data.\n\n"
     "Nothing is charged yet: a central study is charged as its batches end, over a space as its rewards are released, "
     "each time before that, and all together cost what one does, since a round is released once. Over a space it says "
     "what to expect of the eps and "
     "the rounds (--dry-run: says it and stores nothing). Repeating the command after a failure is harmless; another "
     "study of the same name is refused.",
     "tacet study create --store studies --name dose --trust central --eps 1 --delta 1e-6 --sets 0:1,0:1 "
     "--lengthscale 0.3\n"
     "tacet study create --store studies --name slides --trust local --eps 1 --points arms.csv --inputs x,y "
     "--lengthscale 0.2\n"
     "tacet study create --store studies --name shop --trust central --policy contextual --eps 1 --levels "
     "'variant=A|B,device=phone|desktop' --bounds age=18:90 --contexts device,age\n"
     "tacet study create --store studies --definition study.json",
     cmd_study_create},
    {"study suggest", "the next action of a study",
     "--store DIR|URL --study NAME [--decision-set FILE] [--context A=V,…] [--key TEXT]",
     "Asks the study on its store, without a server and without a token; servers may run on the same store. Prints "
     "the ticket under which the outcome is to be reported, and the action. A central study over decision sets takes "
     "the arms of the round from a CSV without a header.",
     "tacet study suggest --store studies --study dose --decision-set arms.csv --json", cmd_study_suggest},
    {"study observe", "report what a suggested action returned", "--store DIR|URL --study NAME --ticket NAME --value Y",
     "Once per ticket; repeating it with the same number is harmless. A reward outside the range of a central study "
     "is clipped, never refused.",
     "tacet study observe --store studies --study dose --ticket T --value 0.7", cmd_study_observe},
    {"study status", "a study's counts and what it guarantees; without a name, all studies",
     "--store DIR|URL [--study NAME]",
     "Without --study: name, trust model, state and counts of every study in the store. With it: counts, rounds left, "
     "and the guarantee in numbers and words. Nothing private is shown.",
     "tacet study status --store studies --study dose", cmd_study_status},
    {"study best", "the best point of a study, and how sure it is", "--store DIR|URL --study NAME",
     "The best point by what was released so far, in the units of its columns; what it is expected to return, the "
     "standard deviation of that as the study believes, and the eps spent. A point that was chosen for its expected "
     "reward returns less more often than not: of 60 made-up studies 46 were within two deviations, 56 within three. "
     "Nothing is drawn, charged or stored. Where each round brings its own decision set or context there is no best "
     "point: release the model and ask 'tacet predict'.",
     "tacet study best --store studies --study tune", cmd_study_best},
    {"study release", "what a study learnt, as a file for anyone", "--store DIR|URL --study NAME --out FILE",
     "Writes the model that 'tacet predict' reads. It is made of what was released and charged before, so it costs "
     "nothing, and any number of predictions from it cost nothing.",
     "tacet study release --store studies --study dose --out model.json\n"
     "tacet predict --model model.json",
     cmd_study_release},
    {"study show", "one study: its definition and counts", "--store DIR|URL --study NAME",
     "Shows the definition and the counts of a study. Nothing private is shown.",
     "tacet study show --store studies --study dose", cmd_study_show},
    {"study extend", "give a study more rounds", "--store DIR|URL --study NAME --rounds T",
     "Local studies, whose devices pay for each report, and contextual studies in epochs, whose rounds are each in "
     "one release, may have more rounds than they were created with; servers that run follow. What was done stays. The "
     "batches of a central study were planned for its rounds, and it is refused: release its model, and begin another "
     "study from it (tacet study create --from), charged separately.\n\n"
     "After the last round a study goes on answering with the best action it knows, without a ticket.",
     "tacet study extend --store studies --study slides --rounds 20000", cmd_study_extend},
    {"study archive", "end a study: nothing is suggested or observed any more", "--store DIR|URL --study NAME",
     "Ends a study for good, also on servers that run. What it has stays readable.",
     "tacet study archive --store studies --study dose", cmd_study_archive},
    {"study snapshot", "save the policies of studies as of their newest events", "--store DIR|URL [--study NAME]",
     "Replays what the newest snapshot of a study does not have yet, and saves the policy; of all studies when none "
     "is named. Servers do this when they are stopped in order. After a crash, run it with the same version of the "
     "program before another one is installed: that one might round otherwise, and could then not replay. Servers may "
     "run meanwhile.",
     "tacet study snapshot --store studies\n"
     "tacet study snapshot --store studies --study dose",
     cmd_study_snapshot},
    {"study expire", "give up open tickets now", "--store DIR|URL --study NAME [--token N]",
     "Ends tickets that wait for their report, as their age would: their rounds become null records, and late reports "
     "are refused. 'study show' says which token holds how many. Servers may run meanwhile.",
     "tacet study show --store studies --study dose\n"
     "tacet study expire --store studies --study dose --token 3",
     cmd_study_expire},
    {"study token", "make, list, renew or withdraw the tokens of clients",
     "--store DIR|URL (--role ROLE [--study NAME] [--days N] [--open-most N] [--rounds-most N] | --list | --renew N "
     "[--grace S] | --drop N)",
     "A token is what a client sends with every request. Its role says what it may do: a device asks for suggestions "
     "and reports outcomes; an analyst reads status, releases and ledger; an owner does all of this, and archives. "
     "The text is printed once; the store keeps a hash of it. A token that leaked, or is old, is renewed or withdrawn "
     "by its number without touching the study; servers that run notice within 5 seconds.",
     "tacet study token --store studies --role device --study dose\n"
     "tacet study token --store studies --list\n"
     "tacet study token --store studies --renew 3 --grace 3600 --days 90",
     cmd_study_token},
    {"store init", "make a store; PostgreSQL: its schemas, roles and rights", "--store DIR|URL",
     "Makes the tables of a store. With PostgreSQL, as a role that may "
     "create schemas and roles: makes tacet_trusted and tacet_open, which cannot log in before you let them (ALTER "
     "ROLE … LOGIN), and gives each what it needs and no more. Repeating it is harmless.",
     "tacet store init --store studies\n"
     "tacet store init --store postgresql://postgres@db/tacet",
     cmd_store_init},
    {"store check", "read everything in a store, and say whether it holds together", "--store DIR|URL",
     "Reads the log of every study and checks its chain to the end, verifies the ledgers of central studies, loads "
     "and replays each study as a server would, and compares the trusted store with what the open one has seen of it: "
     "a store that was put back to an older state is found, and its servers will refuse it, too. Servers may run "
     "meanwhile.",
     "tacet store check --store studies", cmd_store_check},
    {"store audit", "who did what to a store: tokens, archives, releases, rounds, tickets that were given up",
     "--store DIR|URL",
     "Prints the audit trail: one line before each administrative act, with the number of the token or the user at the "
     "shell, and the hash that chains it to the line before. A line that was changed, dropped or put in between is "
     "found "
     "and named. Note the last hash elsewhere now and then: a trail that was cut off shows by it. No line has a value "
     "or "
     "a secret, and what cannot be written down is not done. Servers may run meanwhile.",
     "tacet store audit --store studies", cmd_store_audit},
    {"store restore", "make a store that was put back from a copy safe to go on with",
     "--store DIR|URL [--nothing-was-answered]",
     "Run it after a backup was put back, in whole or in part, and before a server is started. Tickets that are given "
     "from now on are none that were given before. Central studies that had events are archived, because what they "
     "answered after the copy was made rests on noise that would be drawn anew; unless you know that nothing was "
     "answered. What the open store shows is made again from the log.",
     "tacet store restore --store studies\n"
     "tacet store check --store studies",
     cmd_store_restore},
    {"store backup", "copy a store in a folder while servers run", "--store DIR --out DIR",
     "Copies both stores and the ledgers into a new folder, in an order that keeps them consistent. The copy is as "
     "secret as the original. For PostgreSQL use pg_dump; docs/deployment.md says how, and what may be put back.",
     "tacet store backup --store studies --out /backup/studies-monday", cmd_store_backup},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-server",
    .summary = "The suggestion service: studies of the central and local models over HTTPS.",
    .ring = "trusted (sees decision sets and rewards of central studies)",
    .commands = COMMANDS,
};
