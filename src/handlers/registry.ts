import { type Backoff, resolveBackoff } from '../queue/backoff.ts';
import { checkWellFormed } from '../types/check-well-formed.ts';
import { UnsupportedError } from '../types/errors.ts';
import { shown } from '../types/shown.ts';
import {
  checkAttempts,
  checkConcurrency,
  checkFunction,
  checkId,
  checkNames,
  checkObject,
  registering,
} from './checks.ts';
import type { HandlerFunction, RetireFunction, SubFunction } from './context.ts';
import { FILTER_NAMES } from './filter-options.ts';
import { type ChangeFilter, changeFilters, type ObjectFilter, objectFilter } from './filters.ts';
import type { HandlerOptions } from './options.ts';
import { type Path, parsePath } from './path.ts';
import { schemaOf } from './schema.ts';

/** What a handler is called for. */
export type HandlerKind = 'change' | 'create' | 'update' | 'resume' | 'delete';

const KINDS: readonly string[] = ['change', 'create', 'update', 'resume', 'delete'] satisfies readonly HandlerKind[];

/** With those that have no records. */
const ALL_KINDS: readonly string[] = [...KINDS, 'event', 'timer', 'daemon', 'index', 'startup', 'cleanup'];

/** Kinds whose handlers may register sub-handlers. */
export function isParental(kind: HandlerKind): boolean {
  return kind === 'change' || kind === 'update';
}

/** A registered handler, checked and with every default filled in. */
export interface Handler {
  readonly id: string;
  readonly kind: HandlerKind;
  /** Place in the order of registration: breaks ties (A5'). */
  readonly order: number;
  readonly path: Path | undefined;
  readonly select: ((object: unknown) => unknown) | undefined;
  /** Its scope: the filters that look at nothing but the object. */
  readonly filter: ObjectFilter | undefined;
  /** The filters that look at what it has handled, too (A20'). */
  readonly changes: ChangeFilter | undefined;
  readonly retries: number;
  readonly timeoutMs: number | undefined;
  readonly backoff: Backoff;
  /** Calls at a time, those of subs and of `retire` counted in (A31'). */
  readonly concurrency: number;
  readonly fn: HandlerFunction;
  readonly version: string | undefined;
  /** How the view is defined (A14'). */
  readonly schema: string | undefined;
  readonly onAdded: 'run' | 'adopt';
  readonly onSchemaChange: 'run' | 'adopt';
  /** It is called for its own writes, too (A8'b). */
  readonly selfTrigger: boolean;
  /** Undoes the work of a sub that has left the plan (A9'e). */
  readonly retire: RetireFunction | undefined;
}

/** What a parent registered by `ctx.sub`, with the function that no record can hold. */
export interface SubHandler {
  readonly id: string;
  readonly args: unknown;
  /** With `select`: what it selected of the parent's view, once and for all of the plan. */
  readonly selected: { readonly value: unknown } | undefined;
  readonly retries: number;
  readonly timeoutMs: number | undefined;
  readonly fn: SubFunction;
}

const NAMES: readonly (keyof HandlerOptions)[] = [
  ...FILTER_NAMES,
  'id',
  'select',
  'old',
  'new',
  'backoff',
  'concurrency',
  'onAdded',
  'onSchemaChange',
  'retire',
  'retries',
  'selfTrigger',
  'timeoutMs',
  'version',
];

/** The handlers of a controller. Closed when the controller starts. */
export class Registry {
  readonly #handlers: Handler[] = [];
  readonly #ids = new Set<string>();
  readonly #others = new Set<string>();
  readonly #retiringIds = new Set<string>();
  readonly #backoff: Backoff;
  readonly #canHold: boolean;
  readonly #essence: string | undefined;

  /**
   * `canHold`: objects of the source can be kept until the handlers for their deletion are done (A11'). `essence`: the
   * rules of the default view, if they are not the default ones.
   */
  constructor(backoff: Backoff, canHold: boolean, essence?: string) {
    this.#backoff = backoff;
    this.#canHold = canHold;
    this.#essence = essence;
  }

  /** In the order of registration. */
  get handlers(): readonly Handler[] {
    return this.#handlers;
  }

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  /** Of the handlers with a `retire` hook. */
  get retiringIds(): ReadonlySet<string> {
    return this.#retiringIds;
  }

  /** Checks what handlers of all kinds have in common. Throws `TypeError`. */
  check(action: string, options: { readonly id: string }, fn: unknown): void {
    checkId(action, options.id);
    if (typeof fn !== 'function') throw new TypeError(`Cannot ${action}: the handler is not a function`);
    if (this.#ids.has(options.id) || this.#others.has(options.id)) {
      throw new TypeError(`Cannot ${action}: the id is taken`);
    }
  }

  /** Takes the id of a handler that has no records. */
  take(id: string): void {
    this.#others.add(id);
  }

  add(kind: string, options: HandlerOptions<never>, fn: HandlerFunction<never>): void {
    if (!isKind(kind)) {
      const name = kind === '' ? '' : shown(kind);
      throw new UnsupportedError('register a handler', `the kind "${name}" (there are ${ALL_KINDS.join(', ')})`);
    }
    checkObject('register a handler', options);
    const action = registering(options.id);
    checkNames(action, options, NAMES);
    this.check(action, options, fn);
    checkAttempts(action, options);
    checkFunction(action, 'select', options.select);
    checkFunction(action, 'retire', options.retire);
    checkConcurrency(action, options.concurrency);
    if (options.field !== undefined && options.select !== undefined) {
      throw new TypeError(`Cannot ${action}: field and select exclude each other`);
    }
    checkVersion(action, kind, options);
    checkSelfTrigger(action, kind, options.selfTrigger);
    if (options.retire !== undefined && !isParental(kind)) {
      throw new TypeError(`Cannot ${action}: retire is for handlers that register sub-handlers`);
    }
    if ((kind === 'delete' || options.retire !== undefined) && !this.#canHold) {
      throw new UnsupportedError(
        action,
        `${kind === 'delete' ? 'a deletion' : 'retire'} without finalizers of its source`,
      );
    }
    const filters = filtersOf(action, kind, options);
    const path = options.field === undefined ? undefined : parsePath(options.field);
    this.#handlers.push({
      id: options.id,
      kind,
      order: this.#handlers.length,
      path,
      // The registry is the border between the caller's type of object and `unknown`: a source yields only the former.
      select: options.select as Handler['select'],
      ...filters,
      retries: options.retries ?? Number.POSITIVE_INFINITY,
      timeoutMs: options.timeoutMs,
      backoff: options.backoff === undefined ? this.#backoff : resolveBackoff(options.backoff, this.#backoff, action),
      concurrency: options.concurrency ?? Number.POSITIVE_INFINITY,
      fn: fn as HandlerFunction,
      version: options.version,
      schema: schemaOf(path, options.select !== undefined, options.version, this.#essence),
      onAdded: options.onAdded ?? 'run',
      onSchemaChange: options.onSchemaChange ?? 'run',
      selfTrigger: options.selfTrigger ?? false,
      retire: options.retire as Handler['retire'],
    });
    this.#ids.add(options.id);
    if (options.retire !== undefined) this.#retiringIds.add(options.id);
  }
}

function isKind(kind: string): kind is HandlerKind {
  return KINDS.includes(kind);
}

function filtersOf(
  action: string,
  kind: HandlerKind,
  options: HandlerOptions<never>,
): Pick<Handler, 'filter' | 'changes'> {
  if (isParental(kind)) return changeFilters(action, options);
  for (const name of ['old', 'new'] as const) {
    if (options[name] === undefined) continue;
    throw new TypeError(`Cannot ${action}: ${name} is for handlers of kind change and update`);
  }
  return { filter: objectFilter(action, options), changes: undefined };
}

/** Whose digest is not that of what it sees cannot be called for a change of that. */
function checkSelfTrigger(action: string, kind: HandlerKind, selfTrigger: unknown): void {
  if (selfTrigger === undefined) return;
  if (typeof selfTrigger !== 'boolean') {
    throw new TypeError(`Cannot ${action}: selfTrigger is of type ${typeof selfTrigger}, not a boolean`);
  }
  if (!isParental(kind)) throw new TypeError(`Cannot ${action}: selfTrigger is for handlers of kind change and update`);
}

/** Options about other versions of the program, of which some kinds have no use. */
function checkVersion(action: string, kind: HandlerKind, options: HandlerOptions<never>): void {
  const { version } = options;
  if (version !== undefined && (typeof version !== 'string' || version === '')) {
    throw new TypeError(`Cannot ${action}: version must be a string with content`);
  }
  checkWellFormed(action, 'version', version ?? '');
  const kinds = { onAdded: ['change', 'create'], onSchemaChange: ['change', 'update'] } as const;
  for (const name of ['onAdded', 'onSchemaChange'] as const) {
    const choice = options[name];
    if (choice === undefined) continue;
    if (choice !== 'run' && choice !== 'adopt') {
      throw new TypeError(`Cannot ${action}: ${name} is ${shown(choice)}, allowed are run and adopt`);
    }
    if (!kinds[name].some((allowed) => allowed === kind)) {
      throw new TypeError(`Cannot ${action}: ${name} is for handlers of kind ${kinds[name].join(' and ')}`);
    }
  }
}
