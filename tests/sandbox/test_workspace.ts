/**
 * A temporary directory with a sandbox and tools, for tests.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import { extractText } from "../../src/core/messages/content.ts";
import type { AgentToolResult, ToolUpdate } from "../../src/core/messages/tool_result.ts";
import type { ProcessSpawner } from "../../src/core/ports/process_spawner.ts";
import { validateToolArguments } from "../../src/core/schemas/validate_tool_arguments.ts";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import { testToolContext } from "../../src/testing/test_tool_context.ts";
import type { GateSandbox } from "../../src/tools/approval/gate_rules.ts";
import { codingTools, type CodingToolsOptions } from "../../src/tools/coding_tools.ts";
import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";
import type { Sandbox } from "../../src/tools/sandbox/sandbox.ts";
import type { SandboxOptions } from "../../src/tools/sandbox/sandbox_options.ts";

/** Result of a tool call. */
export interface ToolCallResult {
  readonly text: string;
  readonly isError: boolean;
  readonly result: AgentToolResult;
  readonly updates: readonly string[];
}

/** A temporary project with a sandbox and tools. Disposing it removes the project. */
export class TestWorkspace implements AsyncDisposable {
  readonly #parent: string;
  readonly directory: string;
  readonly sandbox: Sandbox & ProcessSpawner;
  readonly tools: readonly AgentTool[];
  #calls = 0;

  constructor(
    options: SandboxOptions = {},
    tools: Omit<CodingToolsOptions, "cwd" | "sandbox"> = {},
  ) {
    this.#parent = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "swink_test_" }));
    this.directory = `${this.#parent}/project`;
    Deno.mkdirSync(this.directory);
    this.sandbox = createSandbox({ cwd: this.directory, ...options });
    this.tools = codingTools({ sandbox: this.sandbox, ...tools });
  }

  /** The parent directory of the project, which no tool may reach. */
  get outside(): string {
    return this.#parent;
  }

  /** The sandbox for approval gates, which confines commands also where the machine cannot. */
  get confined(): GateSandbox {
    const { sandbox } = this;
    return {
      files: sandbox.files,
      describe: async () => ({ ...await sandbox.describe(), confined: true }),
    };
  }

  /** Writes a file of the project and creates missing directories. */
  writeFile(path: string, content: string | Uint8Array): void {
    const file = `${this.directory}/${path}`;
    Deno.mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(file, content);
    else Deno.writeFileSync(file, content);
  }

  /** Reads a file of the project. */
  readFile(path: string): string {
    return Deno.readTextFileSync(`${this.directory}/${path}`);
  }

  /** Whether the project has a file. */
  exists(path: string): boolean {
    try {
      Deno.lstatSync(`${this.directory}/${path}`);
      return true;
    } catch {
      return false;
    }
  }

  /** Returns the tool with a name. */
  getTool(name: string): AgentTool {
    const tool = this.tools.find((candidate) => candidate.name === name);
    if (!tool) throw new Error(`There is no tool ${name}`);
    return tool;
  }

  /** Calls a tool with valid arguments, as the loop does. */
  async callTool(
    name: string,
    args: JsonObject,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ToolCallResult> {
    const tool = this.getTool(name);
    const checked = await validateToolArguments(tool.parameters, args);
    if (!checked.valid) throw new Error(JSON.stringify(checked.errors));
    const updates: string[] = [];
    const id = `call_${++this.#calls}`;
    const returned = await tool.execute(
      args,
      testToolContext({
        toolCallId: id,
        signal,
        onUpdate: (update: ToolUpdate) =>
          updates.push(typeof update === "string" ? update : extractText(update.content)),
      }),
    );
    const result = typeof returned === "string"
      ? { content: [{ type: "text" as const, text: returned }] }
      : returned;
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
