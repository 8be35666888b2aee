/**
 * A client that writes any bytes, for tests: it need not keep to the protocol, nor read what the server writes.
 *
 * @module
 */

import { type AcpHost, serveAcp } from "../../src/protocols/acp/mod.ts";
import { waitUntil } from "../wait_until.ts";

/** A message of the server. */
export interface RawMessage {
  readonly id?: number | string | null;
  readonly method?: string;
  // deno-lint-ignore no-explicit-any -- a test knows the members that it reads
  readonly params?: any;
  // deno-lint-ignore no-explicit-any -- a test knows the members that it reads
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A client that writes lines. */
export class RawClient {
  /** The messages of the server so far. */
  readonly messages: RawMessage[] = [];
  /** Resolves when the server has ended. */
  readonly served: Promise<void>;
  #input: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isEnded = false;
  #pending = "";

  /** Starts a server; `onMessage` is called with each of its messages. */
  constructor(
    host: AcpHost,
    { onMessage = () => {} }: { readonly onMessage?: (message: RawMessage) => void } = {},
  ) {
    const input = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#input = controller),
      cancel: () => void (this.#isEnded = true),
    });
    const decoder = new TextDecoder();
    const output = new WritableStream<Uint8Array>({
      write: (bytes) => {
        const lines = (this.#pending + decoder.decode(bytes, { stream: true })).split("\n");
        this.#pending = lines.pop() ?? "";
        for (const line of lines) {
          const message = JSON.parse(line);
          this.messages.push(message);
          onMessage(message);
        }
      },
    });
    this.served = serveAcp(host, { input, output });
  }

  /** Writes a message, or a text as it is. */
  write(message: object | string): void {
    if (this.#isEnded) return;
    const text = typeof message === "string" ? message : `${JSON.stringify(message)}\n`;
    this.#input?.enqueue(new TextEncoder().encode(text));
  }

  /** Sends a request. */
  send(id: number | string, method: string, params: unknown): void {
    this.write({ jsonrpc: "2.0", id, method, params });
  }

  /** Waits for the answer to a request. */
  async answer(id: number | string): Promise<RawMessage> {
    const find = () => this.messages.find((message) => message.id === id && !message.method);
    await waitUntil(() => find() !== undefined);
    return find() ?? {};
  }

  /** Waits for a request or a notification of the server. */
  async until(method: string): Promise<RawMessage> {
    const find = () => this.messages.find((message) => message.method === method);
    await waitUntil(() => find() !== undefined);
    return find() ?? {};
  }

  /** Initializes the connection and creates a session; returns its id. */
  async createSession(): Promise<string> {
    this.send("i", "initialize", { protocolVersion: 1, clientCapabilities: {} });
    await this.answer("i");
    this.send("n", "session/new", { cwd: "/work", mcpServers: [] });
    return (await this.answer("n")).result.sessionId;
  }

  /** Disappears. */
  end(): void {
    if (!this.#isEnded) this.#input?.close();
    this.#isEnded = true;
  }
}
