import type { Answer, Call, OperationCall } from './subject.ts';

/**
 * Whether a request has both of two faults, each of which one store told. Nobody promises which one is told, and nothing
 * is written either way. Only of faults that depend on the state; the others are told before it is looked at.
 */
export function areBothFaults(
  call: Call,
  left: Answer,
  right: Answer,
  at: { readonly revision: number; readonly compacted: number },
): boolean {
  const faults = faultsOf(call, at);
  return [left, right].every(({ error }) => typeof error === 'string' && faults.has(error));
}

function faultsOf(call: Call, at: { readonly revision: number; readonly compacted: number }): ReadonlySet<string> {
  if (call.op === 'txn') return new Set([...call.then, ...call.else].flatMap((step) => operationFaults(step, at)));
  if (call.op === 'putAll')
    return new Set(call.entries.flatMap((entry) => putFaults({ ...entry, ignoreValue: false })));
  if (call.op !== 'put') return new Set();
  return new Set([...putFaults(call), ...(call.expect === undefined ? [] : ['conflict'])]);
}

function operationFaults(
  step: OperationCall,
  at: { readonly revision: number; readonly compacted: number },
): readonly string[] {
  switch (step.type) {
    case 'put':
      return putFaults(step);
    case 'range': {
      const { revision = 0 } = step;
      if (revision > at.revision) return ['future revision'];
      return revision > 0 && revision < at.compacted ? ['compacted'] : [];
    }
    case 'delete':
      return [];
    case 'txn':
      return [...step.then, ...step.else].flatMap((inner) => operationFaults(inner, at));
  }
}

function putFaults(put: {
  readonly lease: string | undefined;
  readonly ignoreValue: boolean;
  readonly ignoreLease: boolean;
}): readonly string[] {
  const isKeeping = put.ignoreValue || put.ignoreLease;
  const hasLease = put.lease !== undefined && put.lease !== '0';
  return [...(isKeeping ? ['key not found'] : []), ...(hasLease ? ['lease not found'] : [])];
}
