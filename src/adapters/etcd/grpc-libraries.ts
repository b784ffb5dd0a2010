import { BackendError } from '../../types/errors.ts';
import { loadModule } from '../load-module.ts';

/**
 * The two packages that gRPC needs, as far as they are used here. Structural: neither is a dependency, and who uses the gateway
 * has none of their types.
 */
export interface GrpcLibraries {
  readonly grpc: Grpc;
  readonly protobuf: Protobuf;
  /** Bytes without a copy as what the library for gRPC takes. */
  readonly toBuffer: (bytes: Uint8Array) => Uint8Array;
}

export interface Grpc {
  readonly Client: new (
    address: string,
    credentials: unknown,
    options: Readonly<Record<string, string | number>>,
  ) => GrpcClient;
  readonly Metadata: new () => GrpcMetadata;
  readonly credentials: {
    createInsecure(): unknown;
    createSsl(ca: Uint8Array | null, key: Uint8Array | null, cert: Uint8Array | null): unknown;
  };
}

type Serialize = (message: object) => Uint8Array;
type Deserialize = (bytes: Uint8Array) => object;

export interface GrpcClient {
  makeUnaryRequest(
    path: string,
    serialize: Serialize,
    deserialize: Deserialize,
    message: object,
    metadata: GrpcMetadata,
    callback: (error: unknown, answer: object | undefined) => void,
  ): GrpcCall;
  makeBidiStreamRequest(
    path: string,
    serialize: Serialize,
    deserialize: Deserialize,
    metadata: GrpcMetadata,
  ): GrpcStream;
  close(): void;
}

export interface GrpcCall {
  cancel(): void;
  on(event: 'metadata', listener: (metadata: GrpcMetadata) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

export interface GrpcStream extends GrpcCall, AsyncIterable<object> {
  write(message: object): unknown;
}

export interface GrpcMetadata {
  set(name: string, value: string): void;
  get(name: string): readonly unknown[];
  getMap(): Readonly<Record<string, unknown>>;
}

export interface Protobuf {
  readonly Root: { fromJSON(descriptor: object): { lookupType(name: string): MessageType } };
}

export interface MessageType {
  fromObject(object: object): object;
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
}

const NAMES = ['@grpc/grpc-js', 'protobufjs/light.js', 'node:buffer'] as const;

/** @throws BackendError, permanent, that says what to install */
export async function loadGrpcLibraries(action: string, load: typeof loadModule = loadModule): Promise<GrpcLibraries> {
  const loaded = await Promise.all(NAMES.map((name) => load(name)));
  const missing = NAMES.filter((_, index) => 'error' in (loaded[index] as object));
  if (missing.length > 0) {
    const causes = loaded.flatMap((one) => ('error' in one ? [one.error] : []));
    const reason = `${missing.map((name) => name.replace('/light.js', '')).join(' and ')} cannot be loaded, which gRPC needs; run "npm install @grpc/grpc-js protobufjs"`;
    throw new BackendError(action, reason, { cause: new AggregateError(causes, reason), permanent: true });
  }
  const [grpc, protobuf, buffer] = loaded.map((one) => ('module' in one ? defaultOf(one.module) : undefined));
  const { Buffer } = buffer as {
    readonly Buffer: { from(bytes: ArrayBufferLike, start: number, length: number): Uint8Array };
  };
  return {
    grpc: grpc as Grpc,
    protobuf: protobuf as Protobuf,
    toBuffer: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  };
}

/** Both are CommonJS: all that they export is there as the default. */
function defaultOf(module: unknown): unknown {
  return (module as { readonly default?: unknown }).default ?? module;
}
