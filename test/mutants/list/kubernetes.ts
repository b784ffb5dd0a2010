import type { Fault } from '../fault.ts';

const TESTS = ['test/unit/kubernetes', 'test/property/informer'];
const CORE = 'src/kubernetes/informer-core.ts';

/** The core of an informer: what a list may take away, what is late, what is gone. */
export const KUBERNETES_FAULTS: readonly Fault[] = (
  [
    {
      id: 'informer-without-tombstones',
      file: CORE,
      find: "if (this.#isBuried(identity)) return 'tombstone';",
      replace: '',
      why: 'IN3: a late event of a life that has ended is no object',
    },
    {
      id: 'informer-page-takes-away',
      file: CORE,
      find: '...(isReadable ? this.#removeUnlisted(generation, resourceVersion) : []),',
      replace: '...this.#removeUnlisted(generation, resourceVersion),',
      why: 'IN2: an item without a name could have been any object',
    },
    {
      id: 'informer-list-is-always-right',
      file: CORE,
      find: "if (order === 'newer' || (order === 'unknown' && known.changedIn === generation)) continue;",
      replace: '',
      why: 'IN10: a server that is behind takes nothing newer away',
    },
    {
      id: 'informer-takes-older-states',
      file: CORE,
      find: "if (order === 'older') return 'older';\n    if (known?.uid === uid && order === 'same')",
      replace: "if (known?.uid === uid && order === 'same')",
      why: 'IN4: what is older than what is known is dropped',
    },
    {
      id: 'informer-replays-make-deltas',
      file: CORE,
      find: "if (known?.uid === uid && order === 'same') return 'same-version';",
      replace: '',
      why: 'IN4: what is replayed after a reconnect is no news',
    },
    {
      id: 'informer-new-life-is-an-update',
      file: CORE,
      find: 'const isNewLife = known?.uid !== uid;',
      replace: 'const isNewLife = known === undefined;',
      why: 'IN9: another life under the name is a delete, then an add',
    },
    {
      id: 'informer-late-news-of-before-the-list',
      file: CORE,
      find: "if (this.#isUpTo(resourceVersion, this.#listedUpTo)) return 'unlisted';",
      replace: '',
      why: 'IN10: what came and went unseen, told late, makes nothing',
    },
    {
      id: 'informer-leaving-is-dying',
      file: CORE,
      find: "const reason = isDeleting || !this.#isSelective ? 'deleted' : 'left-selector-or-deleted';\n    if",
      replace: "const reason = 'deleted' as DeletedReason;\n    if",
      why: 'IN6: an object that has left the selector may come back',
    },
    {
      id: 'informer-versions-as-numbers',
      file: 'src/kubernetes/resource-version.ts',
      find: "if (a.length !== b.length) return a.length < b.length ? 'older' : 'newer';\n  return a < b ? 'older' : 'newer';",
      replace: "return Number(a) < Number(b) ? 'older' : 'newer';",
      why: 'IN4: versions have up to 128 bits',
    },
    {
      id: 'informer-tombstones-without-bound',
      file: 'src/kubernetes/tombstones.ts',
      find: 'if (this.#byUid.size <= this.#options.max && at - since < this.#options.ttlMs) break;',
      replace: 'if (at - since < this.#options.ttlMs) break;',
      why: 'IN3: so many tombstones and no more',
    },
    {
      id: 'informer-keeps-what-has-gone',
      file: 'src/kubernetes/known-object.ts',
      find: '  gone.object = undefined;\n',
      replace: '',
      why: 'what stood before it in a list keeps no object that has gone',
    },
    {
      id: 'informer-superseded-list-ends',
      file: CORE,
      find: 'if (this.#listing !== generation)',
      replace: 'if (generation < 0)',
      why: 'IN2: a list that another one has superseded takes nothing away',
    },
  ] as const
).map((fault) => ({ ...fault, tests: TESTS }));
