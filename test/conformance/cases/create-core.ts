import { CoreUnavailableError, createCore } from 'plimsoll';
import { equal, test, throws } from '../harness.ts';

test('createCore refuses what is no module', () => {
  for (const value of [undefined, null, 'core.wasm', 1, {}, new Uint8Array(8), Promise.resolve()]) {
    const error = throws(() => createCore(value as never), { class: TypeError });
    equal(error.message.startsWith('Cannot create the core: '), true);
  }
});

test('the error of a host that does not compile names the way out', () => {
  const error = new CoreUnavailableError('compile the core', new Error('disallowed'));
  equal([error.code, error.name], ['CORE_UNAVAILABLE', 'CoreUnavailableError']);
  equal(error.message.includes('createCore()'), true);
});
