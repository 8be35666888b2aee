/**
 * Tools over a temporary folder, for tests.
 *
 * @module
 */

import { extractText } from "../../src/core/content.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { validateToolArguments } from "../../src/core/schema.ts";
import type { AgentTool, AgentToolResult, ToolUpdate } from "../../src/core/tool.ts";
import { codingTools, type CodingToolsOptions } from "../../src/tools/coding_tools.ts";
import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
} from "../../src/tools/sandbox/sandbox.ts";

/** What a call answered. */
export interface Answer {
  readonly text: string;
  readonly isError: boolean;
  readonly result: AgentToolResult;
  readonly updates: readonly string[];
}

/** A folder, a sandbox over it and tools in it; all gone at its disposal. */
export class Workbench implements AsyncDisposable {
  readonly #parent: string;
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly tools: readonly AgentTool[];
  #calls = 0;

  constructor(
    options: SandboxOptions = {},
    tools: Omit<CodingToolsOptions, "cwd" | "sandbox"> = {},
  ) {
    this.#parent = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "swink_test_" }));
    this.folder = `${this.#parent}/project`;
    Deno.mkdirSync(this.folder);
    this.sandbox = createSandbox({ cwd: this.folder, ...options });
    this.tools = codingTools({ sandbox: this.sandbox, ...tools });
  }

  /** A folder beside the project, where no tool should ever reach. */
  get outside(): string {
    return this.#parent;
  }

  /** Writes a file of the project. */
  put(path: string, content: string | Uint8Array): void {
    const file = `${this.folder}/${path}`;
    Deno.mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(file, content);
    else Deno.writeFileSync(file, content);
  }

  /** Reads a file of the project. */
  get(path: string): string {
    return Deno.readTextFileSync(`${this.folder}/${path}`);
  }

  /** The tool of a name. */
  tool(name: string): AgentTool {
    const tool = this.tools.find((candidate) => candidate.name === name);
    if (!tool) throw new Error(`There is no tool ${name}`);
    return tool;
  }

  /** Calls a tool as the loop does: valid arguments only. */
  async call(
    name: string,
    args: JsonObject,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Answer> {
    const tool = this.tool(name);
    const checked = await validateToolArguments(tool.parameters, args);
    if (!checked.valid) throw new Error(JSON.stringify(checked.errors));
    const updates: string[] = [];
    const id = `call_${++this.#calls}`;
    const answer = await tool.execute(args, {
      toolCallId: id,
      idempotencyKey: id,
      signal,
      onUpdate: (update: ToolUpdate) =>
        updates.push(typeof update === "string" ? update : extractText(update.content)),
    });
    const result = typeof answer === "string"
      ? { content: [{ type: "text" as const, text: answer }] }
      : answer;
    return {
      text: extractText(result.content),
      isError: result.isError ?? false,
      result,
      updates,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox[Symbol.asyncDispose]();
    await Deno.remove(this.#parent, { recursive: true });
  }
}

/** A generator of numbers in [0, 1) that gives the same ones for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
