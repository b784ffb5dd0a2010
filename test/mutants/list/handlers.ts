import type { Fault } from '../fault.ts';

/** Random programs in a hostile world, with a ledger of what handlers did outside. */
const PROGRAMS = ['test/property/handlers.test.ts'];

/** Sequences of which random programs find too few: fixed tests. */
const rows = (...files: readonly string[]): readonly string[] =>
  files.map((file) => `test/unit/handlers/${file}.test.ts`);

/**
 * Handlers: each rule of docs/spec/handlers.md taken out, and the two designs that were there before it, one base and one
 * digest for the whole object.
 */
export const HANDLER_FAULTS: readonly Fault[] = [
  {
    id: 'handlers-object-wide-base',
    file: 'src/handlers/verdict.ts',
    find: 'viewOn(seen, job)?.digest ?? job.digest, wallMs',
    replace: '(state.newest && viewOn(state.newest, job)?.digest) ?? job.digest, wallMs',
    why: "I20': what is handled is told by what the object is when a call ends, not by what the call was told",
    tests: PROGRAMS,
  },
  {
    id: 'handlers-object-wide-digest',
    file: 'src/handlers/snapshot.ts',
    find: 'if (handler.path !== undefined) return viewOfPart(valueAt(this.object, handler.path));',
    replace:
      'if (handler.path !== undefined) return { ...viewOfPart(valueAt(this.object, handler.path)), digest: viewOfPart(this.object).digest };',
    why: "I20': whether a handler is due is told by the whole object, not by what it sees",
    tests: PROGRAMS,
  },
  {
    id: 'handlers-settled-by-success',
    file: 'src/handlers/record.ts',
    find: "return attempt?.digest === digest && attempt.state !== 'open' && attempt.again !== true;",
    replace: "return record?.done === digest || (attempt?.digest === digest && attempt.state === 'failed');",
    why: "A3': settled is the last opened attempt, not the last success",
    tests: PROGRAMS,
  },
  {
    id: 'handlers-no-write-ahead',
    file: 'src/handlers/commit.ts',
    find: '  const doc = tidied.written(deps.nextWriteId(), version);',
    replace: `  if (carry && outcomes.length === 0) {
    memory.wrote(opened, { outcomes, jobs });
    return 'carried' as 'superseded';
  }
  const doc = tidied.written(deps.nextWriteId(), version);`,
    why: "A12': a record says that a call may begin before it does",
    tests: PROGRAMS,
  },
  {
    id: 'handlers-key-without-episode',
    file: 'src/handlers/execute.ts',
    find: 'attempt.opened ?? job.digest, record?.episode ?? 0],',
    replace: 'attempt.opened ?? job.digest],',
    why: "A13': an input that comes back has another key",
    tests: PROGRAMS,
  },
  {
    id: 'handlers-last-args-only',
    file: 'src/handlers/document-version.ts',
    find: 'tried: withTried(known?.tried ?? [], tried)',
    replace: 'tried: [tried]',
    why: "A9'e, row 14: any of the args that an attempt was opened with may have taken effect",
    tests: rows('retire'),
  },
  {
    id: 'handlers-args-of-the-plan',
    file: 'src/handlers/planned-record.ts',
    find: 'const tried = record.tried ?? [triedOf(args)];',
    replace: 'const tried = [triedOf(args)];',
    why: "A9'e, row 13: a hook gets the args that were opened, not those of the plan",
    tests: rows('retire'),
  },
  {
    id: 'handlers-no-restart-on-newest',
    file: 'src/handlers/pass.ts',
    find: 'this.#isOutdated() && memory.restarts < RESTARTS_MAX',
    replace: 'false',
    why: "A2': a pass that has called nobody yet begins anew on a newer state",
    tests: [...rows('rows', 'conflicts', 'controller'), ...PROGRAMS],
  },
  {
    id: 'handlers-many-times-per-pass',
    file: 'src/handlers/pass.ts',
    find: 'this.#ran.add(id);',
    replace: '',
    why: "A2', row 7: each job once in a pass",
    tests: rows('own-writes'),
  },
  {
    id: 'handlers-finalizer-off-the-newest',
    file: 'src/handlers/finalizer.ts',
    find: "if (result.type === 'conflict') return readObject(deps, state);",
    replace: `if (result.type === 'conflict') {
    await readObject(deps, state);
    return patchOn(deps, state, state.newest ?? { name, uid, resourceVersion } as Snapshot, change);
  }`,
    why: "A11'c, row 24: the finalizer goes from the very state on which nothing was left to do",
    tests: rows('deletion', 'deletion-faults'),
  },
  {
    id: 'handlers-no-recheck-in-the-record',
    file: 'src/handlers/commit.ts',
    find: 'if (isDone(job, doc.record(job.id))) return false;',
    replace: '',
    why: "A12', row 20: a job is still due in the very document that is replaced",
    tests: rows('rows', 'conflicts'),
  },
  {
    id: 'handlers-dead-uids-return',
    file: 'src/handlers/object-table.ts',
    find: 'if (this.#dead.has(object.uid)) return;',
    replace: '',
    why: "A1', row 22: a dead uid never comes back",
    tests: rows('rows', 'object-table'),
  },
  {
    id: 'handlers-no-fresh-read',
    file: 'src/handlers/pass.ts',
    find: 'if (this.#isKnownOld()) return true;',
    replace: 'if (this.#memory.uid !== undefined) return false;',
    why: "A12', row 23: a process reads an object before its first call for it",
    tests: rows('rows'),
  },
  {
    id: 'handlers-order-of-registration',
    file: 'src/handlers/agenda.ts',
    find: 'return a.at - b.at || a.handler.order',
    replace: 'return a.handler.order',
    why: "A5', row 10: who has waited longest is next",
    tests: [...rows('rows'), 'test/property/handlers-fairness.test.ts'],
  },
  {
    id: 'handlers-failures-not-absorbed',
    file: 'src/handlers/verdict.ts',
    find: 'const judged = attemptAfter(attempt, outcome, viewOn(seen, job)?.digest ?? job.digest,',
    replace:
      "const judged = attemptAfter(attempt, outcome, (outcome.kind === 'ok' ? viewOn(seen, job)?.digest : undefined) ?? job.digest,",
    why: "A7', rows 5, 6: a failure that notes itself in the own view is on the same input",
    tests: rows('own-writes'),
  },
  {
    id: 'handlers-own-writes-not-absorbed',
    file: 'src/handlers/verdict.ts',
    find: 'const seen = isSelfTriggered ? snapshot : (patched ?? snapshot);',
    replace: 'const seen = snapshot;',
    why: "A8': a handler is not called for its own patches",
    tests: rows('own-writes'),
  },
  {
    id: 'handlers-subs-without-their-parent',
    file: 'src/handlers/jobs.ts',
    find: "return record?.attempt?.state === 'ok' && record.attempt.digest === digest;",
    replace:
      "return record?.plan !== undefined || (record?.attempt?.state === 'ok' && record.attempt.digest === digest);",
    why: "A9'c, row 11: subs are eligible below a planned parent only",
    tests: rows('rows', 'subs'),
  },
  {
    id: 'handlers-back-in-the-plan-as-it-was',
    file: 'src/handlers/document-version.ts',
    find: 'changes.push([id, { ...record, attempt: null, done: null, at: tick, episode: 0 }]);',
    replace: 'changes.push([id, record]);',
    why: "A9'e, row 15: whose work was begun to be undone runs again",
    tests: rows('retire'),
  },
  {
    id: 'handlers-no-leaf-progress',
    file: 'src/handlers/pass.ts',
    find: 'return this.#hasPlanned && !this.#hasLeaf && this.#calls.size === 0;',
    replace: 'return false;',
    why: "A10', row 9: edits faster than a parent cannot starve its subs",
    tests: rows('rows'),
  },
  {
    id: 'handlers-no-mark-of-what-was-seen',
    file: 'src/handlers/adoption.ts',
    find: 'return adopts ? (next) => next.mark(id) : undefined;',
    replace: 'return undefined;',
    why: "A14', row 26: an object that comes into scope later is not old",
    tests: rows('versions'),
  },
  {
    id: 'handlers-outdated-jobs-run',
    file: 'src/handlers/jobs.ts',
    find: 'export function isSameJob(job: Job, other: Snapshot): boolean {',
    replace:
      'export function isSameJob(job: Job, other: Snapshot): boolean {\n  if (job.digest !== undefined) return true;',
    why: "A10': what is due is compared on the newest state before each call",
    tests: [...rows('rows', 'controller'), ...PROGRAMS],
  },
  {
    id: 'handlers-aborted-calls-count',
    file: 'src/handlers/outcome.ts',
    find: "if (result.aborted) return { kind: 'superseded' };",
    replace: '',
    why: "A4': superseded calls are not counted",
    tests: [...rows('controller', 'rows'), ...PROGRAMS],
  },
  {
    id: 'handlers-waits-believed',
    file: 'src/handlers/object-memory.ts',
    find: 'Math.min(Math.max(0, attempt.wakeAtWallMs - clock.wallTime()), attempt.delayMs)',
    replace: 'Math.max(0, attempt.wakeAtWallMs - clock.wallTime())',
    why: "A4': a wait is believed only as far as the delay that was meant",
    tests: [...rows('clock', 'controller'), ...PROGRAMS],
  },
  {
    id: 'handlers-bases-kept',
    file: 'src/handlers/record-tables.ts',
    find: 'users === 0 ? undefined : {',
    replace: '{',
    why: "A6', I18': bases are exactly those that some success names",
    tests: PROGRAMS,
  },
  {
    id: 'handlers-not-held',
    file: 'src/handlers/finalizer.ts',
    find: 'if (snapshot.deleting || isHeld(deps, snapshot)) return false;',
    replace: 'if (snapshot.uid !== undefined) return false;',
    why: "A11'a: an object that a deletion handler is for is held before any call",
    tests: rows('deletion'),
  },
  {
    id: 'handlers-own-write-not-recognised',
    file: 'src/handlers/object-memory.ts',
    find: 'if (sent !== undefined) this.#landed(sent);',
    replace: '',
    why: "A12', row 21: a write whose answer got lost is recognised by its id",
    tests: [...rows('rows', 'conflicts'), ...PROGRAMS],
  },
  {
    id: 'handlers-older-states-count',
    file: 'src/handlers/object-table.ts',
    find: 'if (known !== undefined && this.#compare(resourceVersion, known) <= 0) return;',
    replace: '',
    why: "A1': a state counts only if its version is above that of the newest",
    tests: [...rows('object-table'), ...PROGRAMS],
  },
  {
    id: 'handlers-loop-without-guard',
    file: 'src/handlers/pass.ts',
    find: 'if (!job.retires) countEpisode(this.#deps, memory, this.#snapshot, job);',
    replace: '',
    why: "A8', row 29: handlers that push each other are slowed down",
    tests: rows('own-writes', 'loop-guard'),
  },
  {
    id: 'handlers-done-when-planned',
    file: 'src/handlers/execute.ts',
    find: '|| !isComplete(job, next, snapshot)) return next;',
    replace: ') return next;',
    why: "A9'a: `done` of a parent moves when all of its subs are settled",
    tests: [...rows('subs'), ...PROGRAMS],
  },
  {
    id: 'handlers-dropped-patches-count',
    file: 'src/handlers/land.ts',
    find: 'isIgnored = write.isUnchangedOn(made);',
    replace: 'isIgnored = false && write.isUnchangedOn(made);',
    why: "A8'c: where the source drops what a patch did, the record is of what the call was told",
    tests: rows('own-writes'),
  },
  {
    id: 'handlers-patch-takes-records',
    file: 'src/handlers/concealed-source.ts',
    find: 'progress?.reachesRecords?.(one) ?? true;',
    replace: 'Array.isArray(progress) && Array.isArray(one);',
    why: "A42': patches are of the object as handlers see it, and leave the records as they are",
    tests: rows('patched-records'),
  },
  {
    id: 'handlers-records-over-data',
    file: 'src/handlers/object-progress.ts',
    find: 'this.#place.check(',
    replace: 'void (',
    why: "A40'c: an object that has no room for records is refused, and keeps what is in their way",
    tests: rows('patched-records'),
  },
  {
    id: 'handlers-late-item-revives',
    file: 'src/handlers/informer.ts',
    find: 'source.compare(version, list.resourceVersion) > 0;',
    replace: "version !== '';",
    why: "A1': what a list lacks is not brought back by an item that is older than the list",
    tests: rows('informer'),
  },
  {
    id: 'handlers-spoilt-records-believed',
    file: 'src/handlers/documents.ts',
    find: 'checkDocument(name, document);',
    replace: '',
    why: 'records that somebody has spoilt are an error with its place, not a guess',
    tests: rows('spoilt-records'),
  },
];
