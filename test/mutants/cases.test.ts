import { expect, it } from 'vitest';
import '../conformance/cases/spec-compaction.ts';
import '../conformance/cases/spec-leases.ts';
import '../conformance/cases/spec-range.ts';
import '../conformance/cases/spec-revisions.ts';
import '../conformance/cases/spec-txn.ts';
import '../conformance/cases/spec-watch.ts';
import '../conformance/cases/store-compaction.ts';
import '../conformance/cases/store-errors.ts';
import '../conformance/cases/store-reads.ts';
import '../conformance/cases/store-txn.ts';
import '../conformance/cases/store-values.ts';
import '../conformance/cases/store-watch.ts';
import '../conformance/cases/store-writes.ts';
import { run } from '../conformance/harness.ts';

// Of no suite: the conformance suite runs these cases on the package. Here they run on sources with a fault in them.
it('the conformance cases of the embedded store', async () => {
  const { passed, failures } = await run(() => {}, 1);
  expect(failures.map(({ name, message }) => `${name}\n${message}`)).toEqual([]);
  expect(passed).toBeGreaterThan(0);
});
