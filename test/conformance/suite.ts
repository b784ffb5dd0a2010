/**
 * What every runtime must do alike. Cases import the package by name, so that the exports map of package.json is part
 * of what is tested. No host API here: the same cases run in all nine runtimes.
 */
import './cases/both-kinds.ts';
import './cases/create-core.ts';
import './cases/errors.ts';
import './cases/essence-errors.ts';
import './cases/essence-rules.ts';
import './cases/essence-vectors.ts';
import './cases/etcd.ts';
import './cases/handlers-calls.ts';
import './cases/handlers-failures.ts';
import './cases/handlers-kinds.ts';
import './cases/handlers-life.ts';
import './cases/handlers-restart.ts';
import './cases/handlers-progress.ts';
import './cases/handlers-sources.ts';
import './cases/handlers-subs.ts';
import './cases/handlers-view.ts';
import './cases/handlers-writes.ts';
import './cases/handlers-wrong.ts';
import './cases/informer-loop.ts';
import './cases/informer.ts';
import './cases/json-patch.ts';
import './cases/keyed-locks.ts';
import './cases/lock-elector.ts';
import './cases/replica-reads.ts';
import './cases/replica-watch.ts';
import './cases/replica-writes.ts';
import './cases/spec-compaction.ts';
import './cases/spec-leases.ts';
import './cases/spec-range.ts';
import './cases/spec-revisions.ts';
import './cases/spec-txn.ts';
import './cases/spec-watch.ts';
import './cases/resource-cache.ts';
import './cases/sqlite.ts';
import './cases/storage.ts';
import './cases/store-compaction.ts';
import './cases/store-errors.ts';
import './cases/store-history.ts';
import './cases/store-locks.ts';
import './cases/store-model.ts';
import './cases/store-reads.ts';
import './cases/store-txn.ts';
import './cases/store-values.ts';
import './cases/store-watch.ts';
import './cases/store-writes.ts';
import './cases/test-api-server.ts';
import './cases/testkit-backends.ts';
import './cases/testkit-clock.ts';
import './cases/testkit-history.ts';
import './cases/web-locks.ts';

export { type Failure, run } from './harness.ts';
