/** The public test kit. */
export { createMemoryBackend } from '../backends/memory-backend.ts';
export { BackendAssertionError } from './backend-assertion.ts';
export type { BackendChange } from './backend-session.ts';
export {
  type BackendCase,
  type BackendSuiteOptions,
  type BackendSuiteResult,
  runBackendCases,
  testBackend,
} from './backend-suite.ts';
export {
  type CommitHistory,
  type CommitHistoryOptions,
  createCommitHistory,
  type HeldCommit,
  type HistoryChange,
} from './commit-history.ts';
export {
  type BackendMethod,
  createFaultyBackend,
  type FailOptions,
  type FaultyBackend,
  type FaultyBackendOptions,
} from './faulty-backend.ts';
export { createSeededRandom } from '../system/seeded-random.ts';
export {
  createReferenceModel,
  type ModelLease,
  type ModelPin,
  type ModelWatch,
  type ReferenceModel,
  type ReferenceModelOptions,
} from './model.ts';
export { createObjectSource } from './object-source.ts';
export type { MemoryObjectSource, MemoryObjectSourceOptions, ObjectSourceFaults } from './object-source.ts';
export { createSimulator } from './simulator.ts';
export type { CutOutcome } from './simulator-requests.ts';
export type * from './simulator-types.ts';
export type { MsRange } from './simulator-watch.ts';
export { ProgressAssertionError } from './progress-assertion.ts';
export type { ProgressSubject } from './progress-session.ts';
export { type ProgressCase, type ProgressSuiteOptions, testProgressStore } from './progress-suite.ts';
export { assertPlanOfView, type PlanAssertionOptions } from './plan-assertion.ts';
export { openTestApiServer } from './test-api-server.ts';
export type { ApiAnswer, ServedRequest, TestApiServer, TestApiServerOptions } from './test-api-server.ts';
export type {
  ApiFault,
  ApiFaultScope,
  ApiFaults,
  CountedScope,
  FailRequestOptions,
  ResetOptions,
} from './api-faults.ts';
export { testKinds } from './test-kinds.ts';
export type { ApiKind, ServedKind } from '../server/kubernetes/kinds.ts';
export type { ApiObject, ApiObjectMeta } from '../server/kubernetes/stored-object.ts';
export type { ApiVerb } from '../server/kubernetes/request-info.ts';
export type { StatusCause, StatusDetails } from '../server/kubernetes/api-status.ts';
export { createVirtualClock } from './virtual-clock.ts';
export type { VirtualClock, VirtualClockOptions } from './virtual-clock.ts';
