import { Silent, Unreadable } from '../../backends/etcd/errors.ts';
import type { Destination, Method, Transport, TransportStream } from '../../backends/etcd/transport.ts';
import type { WireObject } from '../../backends/etcd/wire.ts';
import { BackendError, ClosedError } from '../../types/errors.ts';
import { onAbort } from '../../types/on-abort.ts';
import type { GrpcCall, GrpcClient, GrpcLibraries, GrpcMetadata, MessageType } from './grpc-libraries.ts';
import { GRPC_METHODS, grpcDescriptor } from './grpc-messages.ts';
import { errorOfStatus, type Heard } from './grpc-status.ts';

/** Certificates and keys in PEM, as text or bytes. */
export interface EtcdTlsOptions {
  /** Of the authorities that sign the certificates of members. @default those of the platform */
  readonly ca?: string | Uint8Array;
  /** Of this client, where members ask for one; with its key. */
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
}

export interface GrpcTransportOptions {
  readonly libraries: GrpcLibraries;
  readonly action: string;
  readonly tls: EtcdTlsOptions | undefined;
  /** How long a connection with calls on it may be silent until it is asked whether it lives, in ms. */
  readonly keepaliveMs: number;
  readonly answerBytesMax: number;
}

interface Connection {
  readonly client: GrpcClient;
  /** Of its streams: they end when it is given up. */
  readonly lost: AbortController;
}

interface Codec extends Record<'path', string> {
  readonly serialize: (message: object) => Uint8Array;
  readonly deserialize: (bytes: Uint8Array) => object;
}

/** An answer to the question whether a connection lives has to come within this, in ms. */
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** Between two attempts to connect to a member, in ms; the library doubles it about, up to the second, each with jitter. */
const RECONNECT_MS = { first: 100, max: 5_000 } as const;
/** A member ends these when it has lost its leader, instead of being silent. */
const NEEDS_LEADER: ReadonlySet<Method> = new Set<Method>(['watch', 'lease/keepalive']);

/**
 * gRPC by `@grpc/grpc-js`: one connection a member, made when it is first asked. Answers are read by protobufjs and go on as they
 * are, without a second form in between (`wire.ts`).
 */
export class GrpcTransport implements Transport {
  readonly duplex = true;
  readonly #options: GrpcTransportOptions;
  readonly #secure: unknown;
  readonly #codecs = new Map<Method, Codec>();
  readonly #connections = new Map<string, Connection>();
  #isClosed = false;

  /** @throws BackendError, permanent, for certificates and keys that are none */
  constructor(options: GrpcTransportOptions) {
    this.#options = options;
    const { protobuf, toBuffer } = options.libraries;
    const root = protobuf.Root.fromJSON(grpcDescriptor());
    for (const [method, { path, request, answer }] of Object.entries(GRPC_METHODS)) {
      const [asked, answered]: MessageType[] = [root.lookupType(request), root.lookupType(answer)];
      this.#codecs.set(method as Method, {
        path,
        serialize: (message) =>
          toBuffer((asked as MessageType).encode((asked as MessageType).fromObject(message)).finish()),
        deserialize: (bytes) => (answered as MessageType).decode(bytes),
      });
    }
    this.#secure = secureCredentials(options);
  }

  call(method: Method, request: WireObject, to: Destination): Promise<WireObject> {
    const { path, serialize, deserialize } = this.#codec(method);
    return new Promise((resolve, reject) => {
      to.signal.throwIfAborted();
      const connection = this.#connection(to.endpoint);
      const call = connection.client.makeUnaryRequest(
        path,
        serialize,
        deserialize,
        request,
        this.#metadata(method, to),
        (error, answer) => {
          unlisten();
          if (answer !== undefined && error === null) resolve(answer as WireObject);
          else reject(to.signal.aborted ? to.signal.reason : this.#errorOf(error, heard, to));
        },
      );
      const heard = listen(call);
      const unlisten = onAbort(to.signal, (reason) => {
        call.cancel();
        reject(reason);
        this.#judge(connection, to.endpoint, reason);
      });
    });
  }

  stream(method: Method, request: WireObject, to: Destination): TransportStream {
    const { path, serialize, deserialize } = this.#codec(method);
    to.signal.throwIfAborted();
    const connection = this.#connection(to.endpoint);
    const call = connection.client.makeBidiStreamRequest(path, serialize, deserialize, this.#metadata(method, to));
    const heard = listen(call);
    // Told to whoever reads; where nobody does any more it would be thrown at the process.
    call.on('error', () => {});
    const unlistenLost = onAbort(connection.lost.signal, () => call.cancel());
    const unlisten = onAbort(to.signal, (reason) => {
      call.cancel();
      this.#judge(connection, to.endpoint, reason);
    });
    let isOpen = true;
    const end = () => {
      isOpen = false;
      unlisten();
      unlistenLost();
      call.cancel();
    };
    call.write(request);
    return {
      messages: this.#messages(call, { heard, to, lost: connection.lost.signal }, end),
      send: (more) => {
        if (isOpen) call.write(more);
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const { client } of this.#connections.values()) client.close();
    this.#connections.clear();
  }

  async *#messages(
    call: AsyncIterable<object>,
    { heard, to, lost }: { readonly heard: Heard; readonly to: Destination; readonly lost: AbortSignal },
    end: () => void,
  ): TransportStream['messages'] {
    try {
      for await (const message of call) {
        to.signal.throwIfAborted();
        yield message as WireObject;
      }
    } catch (error) {
      to.signal.throwIfAborted();
      lost.throwIfAborted();
      throw this.#errorOf(error, heard, to);
    } finally {
      end();
    }
  }

  #errorOf(error: unknown, heard: Heard, { endpoint }: Destination): unknown {
    return errorOfStatus(error, { endpoint, heard, answerBytesMax: this.#options.answerBytesMax });
  }

  #codec(method: Method): Codec {
    return this.#codecs.get(method) as Codec;
  }

  #metadata(method: Method, { token }: Destination): GrpcMetadata {
    const metadata = new this.#options.libraries.grpc.Metadata();
    if (token !== undefined) metadata.set('token', token);
    if (NEEDS_LEADER.has(method)) metadata.set('hasleader', 'true');
    return metadata;
  }

  /**
   * A connection on which a member was silent may be dead without anybody having noticed: what is broken within a frame, for
   * instance, the library waits for. So it is given up with all that is on it, and the next call makes another.
   */
  #judge(connection: Connection, endpoint: string, reason: unknown): void {
    if (!(reason instanceof Silent) || this.#connections.get(endpoint) !== connection) return;
    this.#connections.delete(endpoint);
    connection.client.close();
    connection.lost.abort(new Unreadable('a connection on which a call had no answer'));
  }

  #connection(endpoint: string): Connection {
    if (this.#isClosed) throw new ClosedError('use an etcd backend');
    const known = this.#connections.get(endpoint);
    if (known !== undefined) return known;
    const { keepaliveMs, answerBytesMax, libraries } = this.#options;
    const { grpc } = libraries;
    const { hostname, port, protocol } = new URL(endpoint);
    const isSecure = protocol === 'https:';
    const address = `${hostname}:${port === '' ? (isSecure ? 443 : 80) : port}`;
    const client = new grpc.Client(address, isSecure ? this.#secure : grpc.credentials.createInsecure(), {
      'grpc.keepalive_time_ms': keepaliveMs,
      'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
      'grpc.keepalive_permit_without_calls': 0,
      'grpc.initial_reconnect_backoff_ms': RECONNECT_MS.first,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MS.max,
      'grpc.max_receive_message_length': answerBytesMax,
      // What is tried again, and where, is decided in one place: EtcdClient.
      'grpc.enable_retries': 0,
      'grpc.service_config_disable_resolution': 1,
      // No variable of the environment leads elsewhere; `fetch` does not look at them either.
      'grpc.enable_http_proxy': 0,
      // Connections are this backend's own, and so are their ends.
      'grpc.use_local_subchannel_pool': 1,
    });
    const connection = { client, lost: new AbortController() };
    this.#connections.set(endpoint, connection);
    return connection;
  }
}

/** Hears how the answer of a call begins. */
function listen(call: GrpcCall): Heard {
  const heard: { contentType: string | undefined } = { contentType: undefined };
  call.on('metadata', (metadata) => {
    heard.contentType = String(metadata.get('content-type')[0] ?? '');
  });
  return heard;
}

function secureCredentials({ libraries, action, tls = {} }: GrpcTransportOptions): unknown {
  const { grpc, toBuffer } = libraries;
  const encoder = new TextEncoder();
  const bytesOf = (pem: string | Uint8Array | undefined) =>
    pem === undefined ? null : toBuffer(typeof pem === 'string' ? encoder.encode(pem) : pem);
  try {
    return grpc.credentials.createSsl(bytesOf(tls.ca), bytesOf(tls.key), bytesOf(tls.cert));
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new BackendError(action, `tls cannot be used (${said})`, { cause, permanent: true });
  }
}
