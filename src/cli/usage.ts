/** What `--help` prints: for the command as a whole, and for each subcommand. */
export const USAGE = `plimsoll: a revisioned, watchable store and list cache with handlers

Usage
  plimsoll <command> [options]

Commands
  demo    Loads a watch stream into a replica at full speed, lists, watches and handles it
          meanwhile, and checks at the end that nothing was missed. With --chaos: kills
          controllers and feeds them stale reads.
  hash    Prints the essence digest of JSON documents: equal for objects that mean the same.

Options
  -h, --help       Print this help, or that of a command: plimsoll demo --help
      --version    Print the version

Exit codes
  0    done, and every check is right
  1    the input is at fault, a check found a difference, or the output cannot be written
  2    the command line is at fault
  130  interrupted (Ctrl-C)
  143  asked to end (SIGTERM)
`;

export const DEMO_USAGE = `plimsoll demo: the main job of the library, on real input

Usage
  plimsoll demo [options]

What it does
  Feeds a Kubernetes watch stream into a store through its list manager. While the store loads,
  one client lists from it by pages, one watcher lags and replays, one is left behind until
  compaction passes it and it has to list again, and a handler with three slow sub-handlers works
  on every object. At the end all of them must agree with what the stream says. The first
  difference, if there is any, is shown with its key, what was expected and what was found.

  With --chaos, another demo: a controller works on objects that are edited all the time, while its
  process is killed and started anew on the same progress, lists are old, changes are lost, come
  twice or late, and answers to writes are lost. At the end every handler and sub-handler must have
  handled the last state.

Input
      --stream FILE|-   Watch events, one {"type", "object"} after the other: a line each, or
                        pretty-printed. May be packed with gzip. "-" is standard input.
                        Without it a built-in stream is made:
      --seed N          its chance (0 to 4294967295, default 1): one seed, one stream
      --objects N       objects of its first list (1 to 100000, default 300)
      --events N        its lines in all (at least --objects, at most 10000000, default 3000)
      --truth FILE      A JSON file with the SHA-256 of the stream's final state. Needs --stream.

  The leading run of ADDED is the first list, in any order of revisions. It ends at the first other
  line, at the end of the input, or, on a pipe, after 1 second of silence. Behind it revisions must
  rise.

Chaos
      --chaos           Do that instead; --seed (edits and what goes wrong), --objects (1 to 1000,
                        default 25) and --events (edits, 1 to 100000, default 600) are for it
      --broken          Have a sub-handler take its work as done after the first time. The checks
                        must find it: exit code 1. Needs --chaos.

Options
      --kill-at N       Lose the connection at event N, for 500 events, and forget the history: the
                        store has to list again. At most the number of events.
      --timeout-s N     End with an error when nothing happens for N seconds (0 is never,
                        default 120). A quiet cluster counts as nothing happening.
      --json            Print one JSON document instead of lines (by npm: npm start -s -- --json)
  -h, --help            Print this help

Examples
  plimsoll demo
  plimsoll demo --seed 7 --objects 1000 --events 20000 --kill-at 9000
  plimsoll demo --chaos --seed 3
  plimsoll demo --stream watch.ndjson.gz --truth watch.truth.json
  timeout 60 kubectl get pods -A -o json --watch --output-watch-events | plimsoll demo --stream -

Exit codes
  0    every check is right
  1    a check found a difference, the input is at fault, nothing happened for too long,
       or the report cannot be written
  2    the command line is at fault
  130  interrupted (Ctrl-C): no report
  143  asked to end (SIGTERM): no report
`;

export const HASH_USAGE = `plimsoll hash: essence digests of JSON documents

Usage
  plimsoll hash [options] [FILE...]

What it does
  Prints "DIGEST  NAME" for each file, as sha256sum does; without a file, or for "-", for standard
  input. Two objects have the same digest if they mean the same: order of members, white space and
  the spelling of numbers and strings do not count, and neither does what Kubernetes and its
  controllers write for themselves (status, resourceVersion, managedFields and so on).

  A file name with a line break or a backslash is escaped, and its line begins with a backslash.

  A document that cannot be hashed is told on standard error with line and byte; the others are
  hashed all the same, and the exit code is 1.

Options
      --ndjson              Each line is a document of its own: "DIGEST  NAME:LINE". Blank lines
                            are skipped.
      --ignore POINTER      Leave out this part as well, a JSON pointer such as /spec/replicas.
                            The segment * is every element of an array. May be repeated.
      --no-default-ignore   Leave out nothing but what --ignore says
      --reject-duplicates   Refuse a document that names a member twice (else the last one counts)
      --algorithm NAME      xxh3-128 (default), or sha256, which is slower and resists somebody who
                            wants two documents to have one digest
      --seed N              Seed of xxh3-128, 1 to 2^64-1, decimal or with 0x: digests of different
                            seeds are never equal. Others on this machine can see it; it is no
                            signature.
      --json                Print one object a line: {"digest", "file", "line"}
  -h, --help                Print this help

Examples
  plimsoll hash deployment.json
  kubectl get deployment web -o json | plimsoll hash
  plimsoll hash --ndjson --ignore /spec/replicas objects.ndjson
  plimsoll hash --no-default-ignore --json a.json b.json

Exit codes
  0    every document was hashed
  1    a document could not be read, is not JSON, or has no canonical form, or a digest
       could not be written
  2    the command line is at fault
`;
