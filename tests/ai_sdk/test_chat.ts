/**
 * The chat of the AI SDK, connected to a handler in this process.
 *
 * @module
 */

import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  type PrepareSendMessagesRequest,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { Agent, type AgentOptions } from "../../mod.ts";
import { uiMessageHandler, type UiMessageHandlerOptions } from "../../src/protocols/ai_sdk/mod.ts";
import { waitUntil } from "../wait_until.ts";

/** The state of a chat, as the hooks of React and Vue keep it. */
class State implements ChatState<UIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined;
  messages: UIMessage[];

  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, this.snapshot(message));
  };

  snapshot = <Value>(value: Value): Value => structuredClone(value);
}

/** Options of a test chat. */
export interface TestChatOptions extends Omit<ChatInit<UIMessage>, "transport"> {
  /** Returns the body of a request. Default: that of the AI SDK. */
  readonly prepareBody?: (request: Parameters<PrepareSendMessagesRequest<UIMessage>>[0]) => object;
}

/** A chat as that of `useChat()`, whose requests reach a handler without a network, or a server. */
export class TestChat extends AbstractChat<UIMessage> {
  /** The chunks of all responses. */
  readonly chunks: UIMessageChunk[];

  constructor(
    handler: UiMessageHandlerOptions | { readonly url: string },
    { messages = [], prepareBody, ...init }: TestChatOptions = {},
  ) {
    const request = createFetch(handler);
    const chunks: UIMessageChunk[] = [];
    const transport = new DefaultChatTransport({
      api: "http://localhost/chat",
      ...(prepareBody && {
        prepareSendMessagesRequest: (request) => ({ body: prepareBody(request) }),
      }),
      fetch: async (url, init) => {
        const response = await request(url as string, init);
        const body = response.body?.pipeThrough(noteChunks(chunks)) ?? null;
        return new Response(body, response);
      },
    });
    super({ ...init, transport, state: new State(messages) });
    this.chunks = chunks;
  }

  /** Waits for the end of a request that the chat has sent by itself. */
  async untilIdle(): Promise<void> {
    await waitUntil(() => this.status === "ready" || this.status === "error");
  }

  /** Waits until the last message has a text. */
  async untilText(text: string): Promise<void> {
    await waitUntil(() => this.parts.some((part) => part.type === "text" && part.text === text));
  }

  /** The parts of the last message, without step boundaries. */
  get parts(): UIMessage["parts"] {
    return this.lastMessage?.parts.filter(({ type }) => type !== "step-start") ?? [];
  }

  /** The types of the chunks; several parts of one text count once. */
  get types(): string[] {
    const types = this.chunks.map(({ type }) => type);
    return types.filter((type, index) => !type.endsWith("-delta") || type !== types[index - 1]);
  }
}

/** Returns a function that sends a request to a server, or to a handler in this process. */
function createFetch(
  handler: UiMessageHandlerOptions | { readonly url: string },
): (url: string, init?: RequestInit) => Promise<Response> {
  if ("url" in handler) return (_url, init) => fetch(handler.url, init);
  const handle = uiMessageHandler(handler);
  return (url, init) => handle(new Request(url, init));
}

/** Passes a body through, and adds the chunks in it to a list. */
function noteChunks(chunks: UIMessageChunk[]): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let text = "";
  return new TransformStream({
    transform(bytes, controller) {
      const events = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        if (event.startsWith("data: {")) chunks.push(JSON.parse(event.slice("data: ".length)));
      }
      controller.enqueue(bytes);
    },
  });
}

/** Connects a chat to an agent. */
export function connect(options: Omit<AgentOptions, "model">, init?: TestChatOptions): TestChat {
  const agent = new Agent({ model: "test/model", ...options });
  return new TestChat({ createAgent: () => agent }, init);
}
