/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-server: the suggestion service, and what is done to its studies.
 * Ring: trusted. Sees the decision sets and rewards of central studies. */
#include "keys/keys.h"
#include "server/commands.h"

static const cli_command COMMANDS[] = {
    {
        .name = "server init",
        .summary = "make the TLS keys of a server",
        .usage = "--dir DIR [--host NAME,…] [--days N]",
        .description = "Makes a certificate authority of its own, a server certificate for the hosts, and one by which "
                       "servers of the same store know each other (peer.pem; make the keys of all of them in one go, "
                       "with every host). Give ca.pem to the clients; keep the rest. A certificate of another "
                       "authority does as well: put it and its key into a folder as server.pem and server.key.",
        .examples = "tacet server init --dir keys --host localhost,127.0.0.1",
        .run = keys_server,
    },
    {
        .name = "server",
        .summary = "serve studies over HTTPS: suggest, observe, release",
        .usage = "--store DIR|URL --keys DIR [--listen HOST:PORT] [options]",
        .description =
            "Answers the requests of docs/API.md for every study in the store, central and local. Nothing is answered "
            "before it is durable. Several servers may share one PostgreSQL store: with --peers each study is kept by "
            "one of them at a time, to which the others hand its requests, and is taken over when that one is away.\n\n"
            "Prints the address it listens on, as JSON with --json, and runs until it is told to stop (SIGINT, "
            "SIGTERM). Whoever only collects reports of local studies runs 'tacet collector' instead, which holds "
            "nothing private.",
        .examples = "tacet server --store studies --keys keys\n"
                    "tacet server --store postgresql://tacet_trusted@db/tacet --open-store "
                    "postgresql://tacet_open@db/tacet --keys keys --listen 0.0.0.0:8443",
        .run = cmd_server,
    },
    {
        .name = "study create",
        .summary = "add a study; charges the budget of a central one",
        .usage = "--store DIR|URL (--definition FILE | --name NAME --trust MODEL --eps E --lengthscale L …)",
        .description =
            "Checks the definition and stores it in its canonical form; it never changes afterwards. Everything in it "
            "is public: bounds, ranges and lengthscales must not be computed from private data.\n\n"
            "A central study is charged now, once, for all its rounds. Repeating the command after a failure is "
            "harmless; another study of the same name is refused.",
        .examples = "tacet study create --store studies --name dose --trust central --eps 1 --delta 1e-6 --bounds "
                    "0:1,0:1 --lengthscale 0.3\n"
                    "tacet study create --store studies --name slides --trust local --eps 1 --points arms.csv "
                    "--columns x,y --lengthscale 0.2\n"
                    "tacet study create --store studies --definition study.json",
        .run = cmd_study_create,
    },
    {
        .name = "study suggest",
        .summary = "the next action of a study",
        .usage = "--store DIR|URL --study NAME [--decision-set FILE] [--context V,…] [--key TEXT]",
        .description = "Asks the study on its store, without a server and without a token; servers may run on the same "
                       "store. Prints the ticket under which the outcome is to be reported, and the action. A central "
                       "study over decision sets takes the arms of the round from a CSV without a header.",
        .examples = "tacet study suggest --store studies --study dose --decision-set arms.csv --json",
        .run = cmd_study_suggest,
    },
    {
        .name = "study observe",
        .summary = "report what a suggested action returned",
        .usage = "--store DIR|URL --study NAME --ticket TICKET --reward Y",
        .description = "Once per ticket; repeating it with the same number is harmless. A reward outside the range of "
                       "a central study is clipped, never refused.",
        .examples = "tacet study observe --store studies --study dose --ticket T --reward 0.7",
        .run = cmd_study_observe,
    },
    {
        .name = "study status",
        .summary = "a study's counts and what it guarantees",
        .usage = "--store DIR|URL --study NAME",
        .description = "Counts, rounds left, and the guarantee in numbers and words. Nothing private is shown.",
        .examples = "tacet study status --store studies --study dose",
        .run = cmd_study_status,
    },
    {
        .name = "study release",
        .summary = "what a study learnt, as a file for anyone",
        .usage = "--store DIR|URL --study NAME --out FILE",
        .description = "Writes the model that 'tacet predict' reads. It is made of what was released and charged "
                       "before, so it costs nothing, and any number of predictions from it cost nothing.",
        .examples = "tacet study release --store studies --study dose --out model.json\n"
                    "tacet predict --model model.json",
        .run = cmd_study_release,
    },
    {
        .name = "study list",
        .summary = "the studies of a store",
        .usage = "--store DIR|URL",
        .description = "Lists name, trust model, state and counts of every study.",
        .examples = "tacet study list --store studies",
        .run = cmd_study_list,
    },
    {
        .name = "study show",
        .summary = "one study: its definition and counts",
        .usage = "NAME --store DIR|URL",
        .description = "Shows the definition and the counts of a study. Nothing private is shown.",
        .examples = "tacet study show dose --store studies",
        .run = cmd_study_show,
    },
    {
        .name = "study extend",
        .summary = "give a study more rounds",
        .usage = "--store DIR|URL --study NAME --rounds T",
        .description =
            "Local studies, whose devices pay for each report, and contextual studies in epochs, whose rounds are each "
            "in one release, may have more rounds than they were created with; servers that run follow. What was done "
            "stays. A central study is charged once for all its rounds and is refused: release its model, and begin "
            "another study from it (tacet study create --from), charged separately.\n\n"
            "After the last round a study goes on answering with the best action it knows, without a ticket.",
        .examples = "tacet study extend --store studies --study slides --rounds 20000",
        .run = cmd_study_extend,
    },
    {
        .name = "study archive",
        .summary = "end a study: nothing is suggested or observed any more",
        .usage = "NAME --store DIR|URL",
        .description = "Ends a study for good, also on servers that run. What it has stays readable.",
        .examples = "tacet study archive dose --store studies",
        .run = cmd_study_archive,
    },
    {
        .name = "study snapshot",
        .summary = "save the policies of studies as of their newest events",
        .usage = "[NAME] --store DIR|URL",
        .description = "Replays what the newest snapshot of a study does not have yet, and saves the policy; of all "
                       "studies when none is named. Servers do this when they are stopped in order. After a crash, run "
                       "it with the same version of the program before another one is installed: that one might round "
                       "otherwise, and could then not replay. Servers may run meanwhile.",
        .examples = "tacet study snapshot --store studies\n"
                    "tacet study snapshot dose --store studies",
        .run = cmd_study_snapshot,
    },
    {
        .name = "study expire",
        .summary = "give up open tickets now",
        .usage = "NAME --store DIR|URL [--token N] [--older S]",
        .description =
            "Ends tickets that wait for their report, as their age would: their rounds become null records, and late "
            "reports are refused. 'study show' says which token holds how many. Servers may run meanwhile.",
        .examples = "tacet study show dose --store studies\n"
                    "tacet study expire dose --store studies --token 3",
        .run = cmd_study_expire,
    },
    {
        .name = "study token",
        .summary = "make, list, renew or withdraw the tokens of clients",
        .usage = "--store DIR|URL (--role ROLE [--study NAME] [--days N] [--open-most N] [--rounds-most N] | --list | "
                 "--renew N [--grace S] | --drop N)",
        .description = "A token is what a client sends with every request. Its role says what it may do: a device asks "
                       "for suggestions and reports outcomes; an analyst reads status, releases and ledger; an owner "
                       "does all of this, and archives. The text is printed once; the store keeps a hash of it. A "
                       "token that leaked, or is old, is renewed or withdrawn by its number without touching the "
                       "study; servers that run notice within 5 seconds.",
        .examples = "tacet study token --store studies --role device --study dose\n"
                    "tacet study token --store studies --list\n"
                    "tacet study token --store studies --renew 3 --grace 3600 --days 90",
        .run = cmd_study_token,
    },
    {
        .name = "store init",
        .summary = "make or migrate a store; PostgreSQL: its schemas, roles and rights",
        .usage = "--store DIR|URL [--open-store URL]",
        .description =
            "Makes the tables of a store, or brings older ones up to this version. With PostgreSQL, as a role that may "
            "create schemas and roles: makes tacet_trusted and tacet_open, which cannot log in before you let them "
            "(ALTER ROLE … LOGIN), and gives each what it needs and no more. Repeating it is harmless.",
        .examples = "tacet store init --store studies\n"
                    "tacet store init --store postgresql://postgres@db/tacet",
        .run = cmd_store_init,
    },
    {
        .name = "store check",
        .summary = "read everything in a store, and say whether it holds together",
        .usage = "--store DIR|URL [--open-store URL]",
        .description = "Reads the log of every study and checks its chain to the end, verifies the ledgers of central "
                       "studies, loads and replays each study as a server would, and compares the trusted store with "
                       "what the open one has seen of it: a store that was put back to an older state is found, and "
                       "its servers will refuse it, too. Servers may run meanwhile.",
        .examples = "tacet store check --store studies",
        .run = cmd_store_check,
    },
    {
        .name = "store restore",
        .summary = "make a store that was put back from a copy safe to go on with",
        .usage = "--store DIR|URL [--nothing-was-answered]",
        .description =
            "Run it after a backup was put back, in whole or in part, and before a server is started. Tickets that are "
            "given from now on are none that were given before. Central studies that had events are archived, because "
            "what they answered after the copy was made rests on noise that would be drawn anew; unless you know that "
            "nothing was answered. What the open store shows is made again from the log.",
        .examples = "tacet store restore --store studies\n"
                    "tacet store check --store studies",
        .run = cmd_store_restore,
    },
    {
        .name = "store backup",
        .summary = "copy a store in a folder while servers run",
        .usage = "--store DIR --to DIR",
        .description = "Copies both stores and the ledgers into a new folder, in an order that keeps them consistent. "
                       "The copy is as secret as the original. For PostgreSQL use pg_dump; docs/deployment.md says "
                       "how, and what may be put back.",
        .examples = "tacet store backup --store studies --to /backup/studies-monday",
        .run = cmd_store_backup,
    },
    {0},
};

static const cli_program PROGRAM = {
    .name = "tacet-server",
    .summary = "The suggestion service: studies of the central and local models over HTTPS.",
    .ring = "trusted (sees decision sets and rewards of central studies)",
    .commands = COMMANDS,
};

int main(int argc, char **argv) {
    return cli_main(&PROGRAM, argc, argv);
}
