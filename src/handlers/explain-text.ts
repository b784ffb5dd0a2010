import type { Explanation, HandlerExplanation, Reason } from './explanation.ts';

const OBJECT: Readonly<Record<Explanation['object'], string>> = {
  unknown: 'nothing is known to live under this name',
  unheld: 'on its way out and not kept for this controller: nobody is called',
  trouble: 'waits, because its progress store or source has failed',
  idle: 'nothing to do',
  queued: 'in line',
  running: 'being worked on',
  waiting: 'waits',
  left: 'left as it was when the controller stopped',
};

/** An explanation in words: the same for the same facts. */
export function textOf(explanation: Omit<Explanation, 'text'>): string {
  const { name, object, uid, resourceVersion, trouble, handlers } = explanation;
  const which = uid === undefined ? `"${name}"` : `"${name}" (uid ${uid}, version ${resourceVersion})`;
  const wait = trouble === undefined ? '' : `; again in ${ms(trouble.inMs)}: ${trouble.error}`;
  const isFaulty = object === 'idle' && handlers.some(({ reason }) => reason.why === 'fault');
  const what = isFaulty ? 'nothing more can be done: see below' : OBJECT[object];
  return [`${which}: ${what}${wait}`, ...handlers.map(lineOf)].join('\n');
}

function lineOf({ id, retires, reason, behindMs }: HandlerExplanation): string {
  const behind = behindMs === undefined ? '' : ` (behind for ${ms(behindMs)})`;
  return `  ${id}${retires ? ', to retire' : ''}: ${wordsOf(reason)}${behind}`;
}

function wordsOf(reason: Reason): string {
  switch (reason.why) {
    case 'filtered':
      return `not for this object: its ${reason.filter} says so`;
    case 'kind':
      return 'not for this object: only one of the two is about a deletion';
    case 'fault':
      return `cannot look at this state: ${reason.error}`;
    case 'settled':
      return `done at ${reason.digest}`;
    case 'failed':
      return `failed for good at ${reason.digest}${because(reason.error)}`;
    case 'running':
      return 'is being called';
    case 'parent':
      return `waits for "${reason.parentId}" to be done with this state`;
    case 'children':
      return `waits for "${reason.childId}" to be retired first`;
    case 'retry':
      return `is tried again in ${ms(reason.inMs)}, after ${times(reason.failures, 'failure')}${because(reason.error)}`;
    case 'rebuild':
      return `waits ${ms(reason.inMs)}: its parent has failed to register it again`;
    case 'loop': {
      const paths = reason.paths.map((path) => (path === '' ? 'its whole view' : `"${path}"`)).join(', ');
      return `slowed down for ${ms(reason.inMs)}: own writes have called it ${times(reason.episodes, 'time')}, by ${paths}`;
    }
    case 'breaker':
      return `due, held back for ${ms(reason.inMs)}: ${times(reason.failures, 'failed call')} in a row for this object`;
    case 'paused':
      return 'due, and the controller is paused';
    case 'old':
      return `due, but not on this version: records are of version ${reason.recorded}, which the source does not show`;
    case 'concurrency':
      return 'due, and as many calls of the handler run as may';
    case 'rate':
      return 'due, and as many calls have begun as the rate limit lets';
    case 'due':
      return 'due';
  }
}

function because(error: string | undefined): string {
  return error === undefined ? '' : `: ${error}`;
}

function times(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function ms(time: number): string {
  return time === Number.POSITIVE_INFINITY ? 'as long as a trial takes' : `${Math.round(time)} ms`;
}
