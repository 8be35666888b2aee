/**
 * A server for tests over HTTP: plain JSON-RPC, without a library of the protocol.
 *
 * @module
 */

import * as clientPackage from "@modelcontextprotocol/client";
import { connectMcp, type McpConnection, type McpOptions } from "../../src/mcp/mod.ts";
import type { MockMessage } from "./mock_server.ts";

/** Answers a request: a response, or a result as JSON. */
export type HttpHandler = (
  message: MockMessage,
  request: Request,
) => Response | object | Promise<Response | object>;

const ECHO_TOOL = { name: "echo", inputSchema: { type: "object" } };

/** A server on the loopback interface. The handlers are those of methods of JSON-RPC and HTTP, and of other paths. */
export class HttpServer implements AsyncDisposable {
  /** The methods of JSON-RPC, or of HTTP if it is not POST, with the headers of the request. */
  readonly requests: { readonly method: string; readonly headers: Headers }[] = [];
  readonly #handlers: Readonly<Record<string, HttpHandler>>;
  /** Address of the server. */
  readonly url: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(handlers: Readonly<Record<string, HttpHandler>> = {}) {
    this.#handlers = handlers;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
    this.url = `http://127.0.0.1:${this.#server.addr.port}/mcp`;
  }

  /** Connects to the server, which is called `mock`. */
  connect(options: McpOptions = {}, headers: Record<string, string> = {}): Promise<McpConnection> {
    const config = { mcpServers: { mock: { type: "http", url: this.url, headers } } } as const;
    return connectMcp(config, { clientPackage, ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { headers } = request;
    const { pathname } = new URL(request.url);
    if (pathname !== "/mcp") return await this.#answerPath(pathname, request);
    if (request.method !== "POST") {
      this.requests.push({ method: request.method, headers });
      const handler = this.#handlers[request.method];
      const answer = await handler?.({ method: request.method }, request);
      return answer instanceof Response ? answer : new Response(null, { status: 405 });
    }
    const message: MockMessage = await request.json();
    this.requests.push({ method: message.method, headers });
    const handler = this.#handlers[message.method] ?? DEFAULT_HANDLERS[message.method];
    if (message.id === undefined) return new Response(null, { status: 202 });
    if (!handler) return Response.json(createError(message, "Method not found"));
    const answer = await handler(message, request);
    return answer instanceof Response ? answer : Response.json(createResult(message, answer));
  }

  async #answerPath(pathname: string, request: Request): Promise<Response> {
    const answer = await this.#handlers[pathname]?.({ method: pathname }, request);
    if (answer instanceof Response) return answer;
    return answer ? Response.json(answer) : new Response(null, { status: 404 });
  }
}

const DEFAULT_HANDLERS: Readonly<Record<string, HttpHandler>> = {
  "initialize": (message) =>
    Response.json(
      createResult(message, {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "mock", version: "1" },
      }),
      { headers: { "mcp-session-id": "session 1" } },
    ),
  "tools/list": () => ({ tools: [ECHO_TOOL] }),
  "tools/call": ({ params }) => ({ content: [{ type: "text", text: params.arguments.text }] }),
};

/** Creates the response to a request. */
export function createResult({ id }: MockMessage, result: object): object {
  return { jsonrpc: "2.0", id, result };
}

function createError({ id }: MockMessage, message: string): object {
  return { jsonrpc: "2.0", id, error: { code: -32601, message } };
}

/** Creates a response that streams events with messages. */
export function createEventStream(messages: Iterable<object | string>): Response {
  const encoder = new TextEncoder();
  const iterator = messages[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const { done, value } = iterator.next();
      if (done) return controller.close();
      const data = typeof value === "string" ? value : `data: ${JSON.stringify(value)}\n\n`;
      controller.enqueue(encoder.encode(data));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
