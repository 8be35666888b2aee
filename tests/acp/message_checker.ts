/**
 * Checks every message of a server against the schema of the protocol. The client of the package replaces invalid values
 * by defaults.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import schema from "@agentclientprotocol/sdk/schema/v1/schema.json" with { type: "json" };
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

const validators = new Map<string, Validate>();

/** Compiles the definitions, once. */
async function compile(): Promise<void> {
  for (const name of [...Object.values(TO_CLIENT), ...Object.values(ANSWERS)]) {
    if (validators.has(name)) continue;
    const definition = { $ref: `#/$defs/${name}`, $defs: schema.$defs };
    validators.set(name, await ajvValidator(definition));
  }
}

/** Reads the messages of both directions, and checks those of the server. */
export class MessageChecker {
  readonly #methods = new Map<unknown, string>();
  readonly #problems: unknown[] = [];
  readonly #decoders = { client: new TextDecoder(), server: new TextDecoder() };
  readonly #rests = { client: "", server: "" };

  /** Creates a checker. */
  static async create(): Promise<MessageChecker> {
    await compile();
    return new MessageChecker();
  }

  /** Reads bytes of one end. */
  read(from: "client" | "server", bytes: Uint8Array): void {
    const text = this.#rests[from] + this.#decoders[from].decode(bytes, { stream: true });
    const lines = text.split("\n");
    this.#rests[from] = lines.pop() ?? "";
    for (const line of lines.filter((line) => line.trim() !== "")) {
      const message: Message = JSON.parse(line);
      if (from === "server") this.#check(message);
      else if (message.method !== undefined) this.#methods.set(message.id, message.method);
    }
  }

  /** Throws if a message of the server was invalid. */
  checkProblems(): void {
    assertEquals(this.#problems, []);
  }

  #check({ id, method, params, result }: Message): void {
    if (method === undefined && result === undefined) return;
    const name = method === undefined
      ? ANSWERS[this.#methods.get(id) ?? ""]
      : TO_CLIENT[method] ?? "unknown";
    const value = method === undefined ? result : params;
    const problems = validators.get(name ?? "unknown")?.(value) ?? [`unknown: ${method}`];
    if (problems.length > 0) this.#problems.push({ name, problems, value });
  }
}
