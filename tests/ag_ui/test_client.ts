/**
 * The client of the protocol's package, connected to a handler in this process.
 *
 * @module
 */

import {
  type BaseEvent,
  HttpAgent,
  type RunAgentParameters,
  type RunAgentResult,
} from "@ag-ui/client";
import { assert } from "@std/assert";
import { Agent, type AgentOptions } from "../../mod.ts";
import { agUiHandler, type AgUiHandlerOptions } from "../../src/protocols/ag_ui/mod.ts";

/** A client whose requests reach the handler without a network. */
export class Client extends HttpAgent {
  /** The events that have arrived. */
  readonly events: BaseEvent[] = [];

  constructor(createAgent: AgUiHandlerOptions["createAgent"]) {
    const handler = agUiHandler({ createAgent });
    super({
      url: "http://localhost/agent",
      threadId: "thread",
      fetch: (url, init) => handler(new Request(url, init)),
    });
    this.subscribe({ onEvent: ({ event }) => void this.events.push(event) });
  }

  /** Sends a message and returns the new messages. */
  async send(text: string, options: RunAgentParameters = {}): Promise<RunAgentResult> {
    this.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
    return await this.runAgent(options);
  }

  /** The types of the events; several parts of one text count once. */
  get types(): string[] {
    const types = this.events.map(({ type }) => type);
    return types.filter((type, index) => !type.endsWith("_CONTENT") || type !== types[index - 1]);
  }

  /** Returns the last event of a type. */
  last(type: string): BaseEvent & Record<string, unknown> {
    const event = this.events.findLast((event) => event.type === type);
    assert(event, `No ${type} among ${this.types}`);
    return event;
  }
}

/** Connects a client to an agent. */
export function connect(options: Omit<AgentOptions, "model">): Client {
  const agent = new Agent({ model: "test/model", ...options });
  return new Client(() => agent);
}
