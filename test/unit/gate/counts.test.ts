import { describe, expect, it } from 'vitest';
import { readResult } from '../../conformance/runner.mjs';
import { countVitest } from '../../run.mjs';

describe('the counts of a vitest suite', () => {
  const passing = { status: 'passed', assertionResults: [{ status: 'passed' }] };

  it('are those of vitest', () => {
    const result = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, testResults: [passing] };
    expect(countVitest(0, result)).toEqual({ passed: 3, failed: 0, skipped: 0 });
    const failing = { status: 'failed', assertionResults: [{ status: 'failed' }] };
    const mixed = { numPassedTests: 3, numFailedTests: 2, numPendingTests: 4, testResults: [passing, failing] };
    expect(countVitest(1, mixed)).toEqual({ passed: 3, failed: 2, skipped: 4 });
  });

  it('have a failure for a file that does not load', () => {
    const broken = { status: 'failed', assertionResults: [] };
    const result = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, testResults: [passing, broken, broken] };
    expect(countVitest(1, result)).toEqual({ passed: 3, failed: 2, skipped: 0 });
  });

  it('have a failure for a bad exit alone, and for no result', () => {
    const result = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, testResults: [passing] };
    expect(countVitest(1, result)).toEqual({ passed: 3, failed: 1, skipped: 0 });
    expect(countVitest(0, undefined)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });
});

describe('the result of a runtime', () => {
  const line = (passed: number, failed: number): string =>
    `noise\nPLIMSOLL-RESULT ${JSON.stringify({ passed, failed, failures: [] })}\nnoise`;

  it('is the marked line', () => {
    expect(readResult(line(4, 0), 0)).toEqual({ passed: 4, failed: 0, failures: [] });
    expect(readResult(line(4, 2), 0).failed).toBe(2);
  });

  it.each([
    ['no result', 'crashed early', 0, 'without a result'],
    ['a signal', 'half', 'SIGKILL', 'without a result'],
    [
      'a hang',
      'PLIMSOLL-CASE "a"\nPLIMSOLL-CASE "of b, \\"c\\""\nwords',
      'SIGKILL',
      '(SIGKILL) without a result, in the case "of b, \\"c\\"":\nwords',
    ],
    ['a crash while loading', 'no such file', 1, 'it ended (1) without a result, before any case:\nno such file'],
    ['a bad exit after the result', line(4, 0), 3, 'ended with 3'],
    ['no test', line(0, 0), 0, 'it ran no test'],
  ])('is a failure for %s', (_, output, end, message) => {
    const result = readResult(output, end);
    expect(result.failed).toBe(1);
    expect(result.failures[0]?.message).toContain(message);
  });
});
