/**
 * Checks every message of a server against the schema of the protocol. The client of the package replaces invalid values
 * by defaults.
 *
 * @module
 */

import schema from "@agentclientprotocol/sdk/schema/v1/schema.json" with { type: "json" };
import { assertEquals } from "@std/assert";
import { ajvValidator } from "../../mod.ts";

/** The definitions of requests and notifications to the client. */
const TO_CLIENT: Readonly<Record<string, keyof typeof schema.$defs>> = {
  "session/update": "SessionNotification",
  "session/request_permission": "RequestPermissionRequest",
  "fs/read_text_file": "ReadTextFileRequest",
  "fs/write_text_file": "WriteTextFileRequest",
  "terminal/create": "CreateTerminalRequest",
  "terminal/output": "TerminalOutputRequest",
  "terminal/wait_for_exit": "WaitForTerminalExitRequest",
  "terminal/kill": "KillTerminalRequest",
  "terminal/release": "ReleaseTerminalRequest",
  "$/cancel_request": "CancelRequestNotification",
};

/** The definitions of the answers to the requests of a client. */
const ANSWERS: Readonly<Record<string, keyof typeof schema.$defs>> = {
  "initialize": "InitializeResponse",
  "authenticate": "AuthenticateResponse",
  "session/new": "NewSessionResponse",
  "session/load": "LoadSessionResponse",
  "session/resume": "ResumeSessionResponse",
  "session/list": "ListSessionsResponse",
  "session/close": "CloseSessionResponse",
  "session/delete": "DeleteSessionResponse",
  "session/set_mode": "SetSessionModeResponse",
  "session/set_config_option": "SetSessionConfigOptionResponse",
  "session/prompt": "PromptResponse",
};

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

type Validate = Awaited<ReturnType<typeof ajvValidator>>;

const validators = new Map<string, Promise<Validate>>();

/** Compiles a definition, once. */
function compile(name: string): Promise<Validate> {
  const known = validators.get(name);
  if (known) return known;
  const compiled = Promise.resolve(ajvValidator({ $ref: `#/$defs/${name}`, $defs: schema.$defs }));
  validators.set(name, compiled);
  return compiled;
}

/** Reads the messages of both directions, and checks those of the server. */
export class MessageChecker {
  readonly #methods = new Map<unknown, string>();
  readonly #values: { readonly name: string; readonly value: unknown }[] = [];
  readonly #decoders = { client: new TextDecoder(), server: new TextDecoder() };
  readonly #rests = { client: "", server: "" };

  /** Reads bytes of one end. */
  read(from: "client" | "server", bytes: Uint8Array): void {
    const text = this.#rests[from] + this.#decoders[from].decode(bytes, { stream: true });
    const lines = text.split("\n");
    this.#rests[from] = lines.pop() ?? "";
    for (const line of lines.filter((line) => line.trim() !== "")) {
      const message: Message = JSON.parse(line);
      if (from === "server") this.#add(message);
      else if (message.method !== undefined) this.#methods.set(message.id, message.method);
    }
  }

  /** Rejects if a message of the server was invalid. */
  async check(): Promise<void> {
    for (const { name, value } of this.#values) {
      const validate = await compile(name);
      assertEquals([name, value, validate(value)], [name, value, []]);
    }
  }

  #add({ id, method, params, result }: Message): void {
    if (method === undefined && result === undefined) return;
    const name = method === undefined ? ANSWERS[this.#methods.get(id) ?? ""] : TO_CLIENT[method];
    if (name === undefined) throw new Error(`Unknown message ${method} ${JSON.stringify(id)}`);
    this.#values.push({ name, value: method === undefined ? result : params });
  }
}
