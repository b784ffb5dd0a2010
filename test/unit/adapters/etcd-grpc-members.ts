import grpc from '@grpc/grpc-js';
import protobuf from 'protobufjs/light.js';
import { onTestFinished } from 'vitest';
import { GRPC_METHODS, grpcDescriptor } from '../../../src/adapters/etcd/grpc-messages.ts';
import { type EtcdBackendOptions, openEtcdBackend } from '../../../src/adapters/etcd/mod.ts';
import type { Method } from '../../../src/backends/etcd/transport.ts';
import type { Certificate } from '../../support/certificates.ts';

/** Members that speak gRPC on loopback, and say what a function says. What real ones say is for `npm run test:etcd`. */

export const GRPC_HEADER = { cluster_id: '7', revision: '5' };

type Message = Record<string, unknown>;
/** What is answered, or the stream that is answered on. */
type Answerer = (request: Message, asked: { readonly metadata: grpc.Metadata; readonly method: Method }) => unknown;
/** One message that came on a stream. */
type Listener = (request: Message, stream: MemberStream) => void;

export interface MemberStream {
  readonly metadata: grpc.Metadata;
  write(message: object): void;
  refuse(code: number, details: string): void;
  end(): void;
}

export interface Member {
  readonly endpoint: string;
  /** Methods in the order in which they were asked; a stream counts once. */
  readonly asked: Method[];
  readonly server: grpc.Server;
  /** Streams that are open. */
  readonly streams: Set<MemberStream>;
}

export interface MemberOptions {
  readonly answer?: Answerer;
  readonly streams?: Partial<Record<'watch' | 'lease/keepalive', Listener>>;
  readonly tls?: { readonly own: Certificate; readonly clientCa?: string };
  readonly port?: number;
  readonly version?: string;
}

const STREAMS: ReadonlySet<Method> = new Set<Method>(['watch', 'lease/keepalive']);

export function refusal(code: number, details: string): Error {
  return Object.assign(new Error(details), { code, details });
}

export async function startMember(options: MemberOptions = {}): Promise<Member> {
  const { answer = () => ({}), streams: listeners = {}, tls, port = 0, version = '3.5.13' } = options;
  const root = protobuf.Root.fromJSON(grpcDescriptor());
  const server = new grpc.Server();
  const asked: Method[] = [];
  const streams = new Set<MemberStream>();
  for (const [name, { path, request, answer: answered }] of Object.entries(GRPC_METHODS)) {
    const method = name as Method;
    const [requestType, answerType] = [root.lookupType(request), root.lookupType(answered)];
    const isStream = STREAMS.has(method);
    const definition = {
      path,
      requestStream: isStream,
      responseStream: isStream,
      requestDeserialize: (bytes: Buffer) =>
        requestType.toObject(requestType.decode(bytes), { longs: String, enums: String }),
      requestSerialize: () => Buffer.alloc(0),
      responseSerialize: (message: object) => Buffer.from(answerType.encode(answerType.fromObject(message)).finish()),
      responseDeserialize: () => ({}),
    };
    const call: grpc.handleUnaryCall<Message, object> = ({ request: message, metadata }, callback) => {
      asked.push(method);
      const whole = (body: unknown) => ({
        header: GRPC_HEADER,
        ...(method === 'maintenance/status' ? { version } : {}),
        ...(body as object),
      });
      Promise.resolve()
        .then(() => answer(message, { metadata, method }))
        .then(
          (body) => callback(null, whole(body)),
          (error: grpc.ServiceError) => callback(error),
        );
    };
    const stream: grpc.handleBidiStreamingCall<Message, object> = (duplex) => {
      asked.push(method);
      const own: MemberStream = {
        metadata: duplex.metadata,
        write: (message) => duplex.write({ header: GRPC_HEADER, ...message }),
        refuse: (code, details) => duplex.emit('error', refusal(code, details)),
        end: () => duplex.end(),
      };
      streams.add(own);
      duplex.on('data', (message: Message) => listeners[method as 'watch']?.(message, own));
      duplex.on('end', () => duplex.end());
      duplex.on('cancelled', () => streams.delete(own));
    };
    server.addService(
      { [name]: definition } as grpc.ServiceDefinition,
      { [name]: isStream ? stream : call } as grpc.UntypedServiceImplementation,
    );
  }
  const credentials =
    tls === undefined
      ? grpc.ServerCredentials.createInsecure()
      : grpc.ServerCredentials.createSsl(
          tls.clientCa === undefined ? null : Buffer.from(tls.clientCa),
          [{ cert_chain: Buffer.from(tls.own.cert), private_key: Buffer.from(tls.own.key) }],
          tls.clientCa !== undefined,
        );
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, found) =>
      error === null ? resolve(found) : reject(error),
    );
  });
  onTestFinished(() => server.forceShutdown());
  return { endpoint: `${tls === undefined ? 'http' : 'https'}://localhost:${bound}`, asked, server, streams };
}

/** A backend over gRPC, disposed of with the test. */
export async function openGrpc(endpoints: readonly string[], options: Partial<EtcdBackendOptions> = {}) {
  const backend = await openEtcdBackend({ endpoints, transport: 'grpc', ...options });
  onTestFinished(() => backend[Symbol.asyncDispose]());
  return backend;
}

/** Until something is so: what has no event of its own. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  for (const dueAt = Date.now() + 5_000; !isSo(); ) {
    if (Date.now() > dueAt) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
