/**
 * Plimsoll: a revisioned, watchable store and list cache with handlers that cannot miss the last state. Public names
 * only; each is documented where it is defined.
 *
 * @module
 */
export { type OpenStoreOptions, openStore } from './open-store.ts';
export { type Core, createCore } from './create-core.ts';
export { createEssenceHasher } from './create-essence-hasher.ts';
export { bytesCodec, jsonCodec, textCodec } from './store/codecs.ts';
export * from './types/errors.ts';

export type { EssenceHasher } from './core/essence-hasher.ts';
export type { EssenceHasherOptions, EssenceList, EssenceRuleOptions, UnmatchedRule } from './core/essence-options.ts';
export type { ActivityContext, ActivityFunction, ActivityOptions } from './handlers/activities.ts';
export type { AttemptOptions } from './handlers/attempt-options.ts';
export type {
  CallContext,
  HandlerContext,
  HandlerFunction,
  ParentContext,
  PatchOptions,
  RetireContext,
  RetireFunction,
  SubContext,
  SubFunction,
} from './handlers/context.ts';
export {
  type AnnotationProgressOptions,
  createAnnotationProgress,
  type ObjectRecordOptions,
} from './handlers/annotation-progress.ts';
export { applyPatch } from './handlers/apply-patch.ts';
export type { BreakerStatus } from './handlers/breaker.ts';
export { type Controller, createController } from './handlers/controller.ts';
export type { ControllerStats } from './handlers/controller-stats.ts';
export type { Difference } from './handlers/diff.ts';
export type { EventContext, EventFunction, EventOptions } from './handlers/event-options.ts';
export {
  ABSENT,
  type ChangeFilterOptions,
  type FilterOptions,
  type LabelFilter,
  PRESENT,
  type ValueFilter,
} from './handlers/filter-options.ts';
export type {
  IndexAccess,
  IndexEntries,
  IndexFacts,
  IndexFunction,
  IndexKey,
  IndexOptions,
  ObjectIndex,
} from './handlers/index-options.ts';
export type { Explanation, HandlerExplanation, Reason } from './handlers/explanation.ts';
export type { DurationStats, HandlerStats } from './handlers/handler-metrics.ts';
export { type DiffJsonOptions, diffJson } from './handlers/json-diff.ts';
export { mergePatchOf } from './handlers/merge-diff.ts';
export type { HandlerStatus, ObjectStatus } from './handlers/inspect.ts';
export type { KindStats } from './handlers/kind-deps.ts';
export type { KindTable } from './handlers/kinds.ts';
export type { Loop } from './handlers/loop-guard.ts';
export type { BreakerOptions, ControllerOptions, HandlerOptions, RateLimitOptions } from './handlers/options.ts';
export {
  createMemoryProgress,
  type MemoryProgress,
  type ProgressStore,
} from './handlers/progress.ts';
export type {
  Attempt,
  HandlerRecord,
  PlanEntry,
  ProgressDocument,
  ProgressHead,
  Retirement,
  Tried,
  Wait,
} from './handlers/record.ts';
export type { HandlerKind } from './handlers/registry.ts';
export type { SubOptions } from './handlers/sub-options.ts';
export type {
  DaemonContext,
  DaemonFunction,
  DaemonOptions,
  SpawnOptions,
  TimerContext,
  TimerFunction,
  TimerOptions,
} from './handlers/spawn-options.ts';
export { createStatusProgress, type StatusProgressOptions } from './handlers/status-progress.ts';
export { createStoreProgress, type StoreProgressOptions } from './handlers/store-progress.ts';
export { createStoreSource, type StoreSourceOptions } from './handlers/store-source.ts';
export { createContentionTracker } from './lease/contention-tracker.ts';
export { createWriterLeaseGroups } from './lease/writer-groups.ts';
export { createWriterLease } from './lease/writer-lease.ts';
export { createKeyedLock } from './lock/keyed-lock.ts';
export { createLeaderElector, type LeaderElector } from './lock/leader-elector.ts';
export type { LeaderElectorOptions, LeadershipEnd } from './lock/leader-elector-options.ts';
export { createStoreLeaseRecord } from './lock/lease-record-store.ts';
export { createWebLock } from './lock/web-locks.ts';
export type { BackoffOptions } from './queue/backoff.ts';
export type { Retention } from './store/retention.ts';
export type * from './types/backend.ts';
export type { Clock } from './types/clock.ts';
export type { Codec } from './types/codec.ts';
export type * from './types/coordination.ts';
export type { Logger } from './types/logger.ts';
export type { Random } from './types/random.ts';
export type * from './types/patch.ts';
export type * from './types/source.ts';
export type * from './types/event.ts';
export type * from './types/lease.ts';
export type * from './types/lease-record.ts';
export type * from './types/limits.ts';
export type * from './types/lock.ts';
export type * from './types/pin.ts';
export type * from './types/requests.ts';
export type * from './types/revision.ts';
export type * from './types/signal.ts';
export type * from './types/store.ts';
export type * from './types/txn.ts';
export type * from './types/update.ts';
export type * from './types/watch.ts';
export type * from './types/web-lock.ts';
export type * from './types/writer-lease.ts';
