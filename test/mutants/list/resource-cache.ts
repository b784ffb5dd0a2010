import type { Fault } from '../fault.ts';

const UNIT = 'test/unit/resource-cache';
const PROPERTY = 'test/property/resource-cache';
const TABLES = 'src/resource-cache/resource-tables.ts';
const FEED = 'src/resource-cache/resource-feed.ts';
const LOOP = 'src/resource-cache/apply-loop.ts';
const CALLS = 'src/resource-cache/subscription.ts';
const WALK = 'src/resource-cache/hierarchy.ts';

/** The resource store: its indexes, its calls, its walks, what a list may take away. */
export const RESOURCE_CACHE_FAULTS: readonly Fault[] = (
  [
    {
      id: 'resources-relist-without-index-upkeep',
      file: TABLES,
      find: 'for (const text of oldTexts) if (!hasValue(entry, place, text)) this.#postings[place]?.delete(text, entry);',
      replace: '',
      why: 'RC13: a state that takes the place of another one leaves its values',
      tests: [PROPERTY],
    },
    {
      id: 'resources-namespace-keeps-what-is-gone',
      file: TABLES,
      find: 'entry.bucket.remove(entry, this.pins.holds(before.resource.seq) || entry.older !== undefined);',
      replace: 'if (this.#size % 7 !== 3) entry.bucket.remove(entry, true);',
      why: 'RC13: ghosts in the index of a namespace, as argo-cd#28322 has them',
      tests: [PROPERTY],
    },
    {
      id: 'resources-cache-without-tombstones',
      file: 'src/kubernetes/informer-core.ts',
      find: "if (this.#isBuried(identity)) return 'tombstone';",
      replace: '',
      why: 'RC10, IN3: a late event brings back what has gone',
      tests: [UNIT],
    },
    {
      id: 'resources-owner-change-keeps-old-parent',
      file: TABLES,
      find: 'for (const parent of oldParents) if (!isParent(entry, parent)) this.byParent.delete(parent, entry);',
      replace: '',
      why: 'RC13, RH2: a child that changed its owner is none of the old one',
    },
    {
      id: 'resources-new-life-is-an-update',
      file: LOOP,
      find: 'if (current !== undefined && !isSameLife) {',
      replace: 'if (current === null) {',
      why: 'RC11: another life is the end of one and the beginning of another',
    },
    {
      id: 'resources-end-of-another-life',
      file: LOOP,
      find: 'if (isSameLife) this.#tell(this.#tables.remove(entry, end));',
      replace: 'if (current !== undefined) this.#tell(this.#tables.remove(entry, end));',
      why: 'RC10: the end of another life is ignored',
    },
    {
      id: 'resources-coalesces-over-lives',
      file: 'src/resource-cache/pending.ts',
      find: 'waiting?.object !== undefined && waiting.uid === uid',
      replace: 'waiting?.object !== undefined',
      why: 'RC11: a state of the next life is no state of this one',
    },
    {
      id: 'resources-replace-does-not-see-what-waits',
      file: FEED,
      find: 'if (entry.pending === undefined) return entry.current?.resource;',
      replace: 'if (entry.pending !== null) return entry.current?.resource;',
      why: 'RC12: what waits is newer than what is visible',
    },
    {
      id: 'resources-unreadable-list-takes-away',
      file: FEED,
      find: 'const removed = isReadable ? this.#removeUnlisted(listed, namespace, resourceVersion) : 0;',
      replace: 'const removed = this.#removeUnlisted(listed, namespace, resourceVersion);',
      why: 'RC16: only a complete list takes anything away',
    },
    {
      id: 'resources-calls-overlap',
      file: CALLS,
      find: 'this.#isBusy = true;\n',
      replace: '',
      why: 'RC1: one call of a handler at a time',
    },
    {
      id: 'resources-merged-call-swallows-an-end',
      file: CALLS,
      find: 'if (commit.new === undefined && waiting.old === undefined) {',
      replace: 'if (commit.new === undefined) {',
      why: 'RC7: what was told of has to be told its end',
    },
    {
      id: 'resources-calls-after-unsubscribe',
      file: LOOP,
      find: 'if (!this.#subscriptions.delete(subscription)) return;\n      subscription.close();',
      replace: 'if (!this.#subscriptions.delete(subscription)) return;',
      why: 'RC8: no call begins after unsubscribing',
    },
    {
      id: 'resources-flush-in-a-handler',
      file: LOOP,
      find: 'if (size >= this.#options.pendingMax && !this.#isCalling) {',
      replace: 'if (size >= this.#options.pendingMax) {',
      why: 'RC6: nothing changes under a handler',
    },
    {
      id: 'resources-pins-let-go-too-early',
      file: 'src/resource-cache/pins.ts',
      find: 'if (version.until > upTo) break;',
      replace: '',
      why: 'RC5, RC9: a state goes when nobody can read it any more',
      tests: [PROPERTY],
    },
    {
      id: 'resources-retain-without-bound',
      file: 'src/resource-cache/pins.ts',
      find: 'while (this.retained > this.#retainedMax && this.#pins.size > 0) {',
      replace: 'while (this.retained < 0) {',
      why: 'RC5: so many replaced states and no more',
    },
    {
      id: 'resources-walk-reads-what-is-now',
      file: WALK,
      find: 'const version = child.at(seq);',
      replace: 'const version = child.current;',
      why: 'RC9: a walk is of the seq at which it began',
      tests: [PROPERTY],
    },
    {
      id: 'resources-walk-trusts-the-index',
      file: WALK,
      find: 'if (!isOnlyNow && !this.#isChild(parent, version)) return undefined;',
      replace: '',
      why: 'RC9: while something is pinned the index has more than one moment',
      tests: [PROPERTY],
    },
    {
      id: 'resources-children-of-other-namespaces',
      file: WALK,
      find: "if (namespace !== '' && child.key.namespace !== namespace) return undefined;",
      replace: '',
      why: 'RH2: children are in the namespace of the parent',
    },
    {
      id: 'resources-no-owners-without-namespace',
      file: WALK,
      find: "if (namespace !== '' && child.key.namespace !== namespace) return undefined;",
      replace: 'if (child.key.namespace !== namespace) return undefined;',
      why: 'RH6: what is in no namespace owns what is in any',
    },
    {
      id: 'resources-rings-are-followed',
      file: WALK,
      find: 'else this.#tellCycle(frame.entry, child);',
      replace: '',
      why: 'RH4: a cycle is told',
    },
    {
      id: 'resources-twins-are-both-visited',
      file: WALK,
      find: 'return this.#hasBetterTwin(parent, child, version) ? undefined : version;',
      replace: 'return version;',
      why: 'RH3: of one object under two groups one is visited',
    },
  ] as readonly Fault[]
).map((fault) => ({ tests: [UNIT, PROPERTY], ...fault }));
