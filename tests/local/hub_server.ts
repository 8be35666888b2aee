/**
 * A loopback server with the behaviour of the Hugging Face Hub: a redirect with size and SHA-256, and another host with the
 * content.
 *
 * @module
 */

/** Behaviour of the hub for the next requests. */
export interface HubBehavior {
  /** Status of the hub instead of a redirect. */
  status?: number;
  /** SHA-256 that the hub reports; `null` for none. Default: that of the content. */
  sha256?: string | null;
  /** Size that the hub reports. Default: that of the content. */
  size?: number;
  /** Whether the hub sends the content itself. */
  isDirect?: boolean;
  /** Number of bytes after which the content host closes each connection. */
  cutAfter?: number;
  /** Called before the content host closes a connection. */
  onCut?: () => void;
  /** Number of bytes after which the content host sends nothing more. */
  stallAfter?: number;
  /** Whether the content host does not send the length of the content. */
  hidesLength?: boolean;
  /** Whether the content host ignores ranges. */
  ignoresRange?: boolean;
  /** Content to send instead. */
  content?: Uint8Array<ArrayBuffer>;
  /** Kind of the content. Default: none. */
  contentType?: string;
  /** Address of the redirect. */
  location?: string;
  /** Called when the content host has sent its last byte before it stalls. */
  onStall?: () => void;
}

/** A request that the server has received. */
export interface HubRequest {
  readonly host: "hub" | "content";
  readonly path: string;
  readonly range: string | null;
  readonly authorization: string | null;
}

/** A running server. */
export interface HubServer extends AsyncDisposable {
  /** Value of `HF_ENDPOINT`. */
  readonly endpoint: string;
  readonly requests: HubRequest[];
  behavior: HubBehavior;
}

/** Starts a server with the content of a file. */
export async function startHub(content: Uint8Array<ArrayBuffer>): Promise<HubServer> {
  const requests: HubRequest[] = [];
  const sha256 = await toSha256(content);
  const listen = { port: 0, hostname: "127.0.0.1", onListen: () => {} };
  const log = (host: HubRequest["host"], { url, headers }: Request) =>
    requests.push({
      host,
      path: new URL(url).pathname,
      range: headers.get("range"),
      authorization: headers.get("authorization"),
    });
  const contentHost = Deno.serve(listen, (request) => {
    log("content", request);
    return sendContent(request, content, hub.behavior);
  });
  const cutHost = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const cuts = serveCutContent(cutHost, content, () => hub.behavior);
  const hubHost = Deno.serve(listen, (request) => {
    log("hub", request);
    const { behavior } = hub;
    if (behavior.status !== undefined) {
      const headers = { "retry-after": "7" };
      return new Response("<html>…</html>", { status: behavior.status, headers });
    }
    const headers = new Headers({ "x-linked-size": String(behavior.size ?? content.length) });
    if (behavior.sha256 !== null) {
      headers.set("x-linked-etag", `"${behavior.sha256 ?? sha256}"`);
    }
    if (behavior.isDirect) return sendContent(request, content, behavior, headers);
    const { port } = behavior.cutAfter === undefined ? contentHost.addr : cutHost.addr;
    headers.set("location", behavior.location ?? `http://127.0.0.1:${port}/blob`);
    return new Response(null, { status: 302, headers });
  });
  const hub: HubServer = {
    endpoint: `http://127.0.0.1:${hubHost.addr.port}`,
    requests,
    behavior: {},
    async [Symbol.asyncDispose]() {
      cutHost.close();
      await Promise.all([hubHost.shutdown(), contentHost.shutdown(), cuts]);
    },
  };
  return hub;
}

function sendContent(
  request: Request,
  original: Uint8Array<ArrayBuffer>,
  { content = original, contentType, stallAfter, hidesLength, ignoresRange, onStall }: HubBehavior,
  headers = new Headers(),
): Response {
  const range = ignoresRange ? null : /^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "");
  const start = Number(range?.[1] ?? 0);
  if (start >= content.length) {
    headers.set("content-range", `bytes */${content.length}`);
    return new Response(null, { status: 416, headers });
  }
  const bytes = content.subarray(start);
  if (contentType !== undefined) headers.set("content-type", contentType);
  if (!hidesLength) headers.set("content-length", String(bytes.length));
  if (range) {
    headers.set("content-range", `bytes ${start}-${content.length - 1}/${content.length}`);
  }
  // A server adds the length of a body that is no stream.
  const whole = hidesLength ? new Blob([bytes]).stream() : bytes;
  const body = stallAfter === undefined ? whole : new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(bytes.subarray(0, stallAfter));
      onStall?.();
      return new Promise(() => {});
    },
  });
  return new Response(body, { status: range ? 206 : 200, headers });
}

/** Sends the start of the requested content, and closes the connection. */
async function serveCutContent(
  listener: Deno.Listener,
  content: Uint8Array<ArrayBuffer>,
  getBehavior: () => HubBehavior,
): Promise<void> {
  for await (const connection of listener) {
    using open = connection;
    const request = await readHead(open);
    const { cutAfter = 0, ignoresRange, onCut } = getBehavior();
    const range = ignoresRange ? null : /^range: bytes=(\d+)-/im.exec(request);
    const bytes = content.subarray(Number(range?.[1] ?? 0));
    const head = `HTTP/1.1 ${range ? "206 Partial Content" : "200 OK"}\r\n` +
      `content-length: ${bytes.length}\r\n\r\n`;
    const start = new Uint8Array([
      ...new TextEncoder().encode(head),
      ...bytes.subarray(0, cutAfter),
    ]);
    for (let sent = 0; sent < start.length;) sent += await open.write(start.subarray(sent));
    onCut?.();
  }
}

async function readHead(connection: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(4096);
  let head = "";
  while (!head.includes("\r\n\r\n")) {
    const length = await connection.read(buffer);
    if (length === null) break;
    head += new TextDecoder().decode(buffer.subarray(0, length));
  }
  return head;
}

/** Returns the SHA-256 of bytes in hexadecimal. */
export async function toSha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
