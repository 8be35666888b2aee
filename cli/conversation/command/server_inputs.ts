/**
 * The prompts and resources of MCP servers, as inputs for the model.
 *
 * @module
 */

import type { ContentBlock, PromptInput } from "../../../mod.ts";
import type { McpConnection, McpPrompt, McpPromptArgument } from "../../../src/mcp/mod.ts";
import { didYouMean } from "../../command_line/suggestion.ts";
import { UsageError } from "../../host/cli_error.ts";

/** Options for the request of an input. */
export interface ServerInputOptions {
  /** Cancels the request. */
  readonly signal: AbortSignal;
  /** Time of the message, in milliseconds. */
  readonly now: number;
}

/** Returns the messages of a prompt, from a text such as `SERVER NAME ARGUMENT=VALUE`. */
export async function requestPrompt(
  connection: McpConnection,
  text: string,
  { signal, now }: ServerInputOptions,
): Promise<PromptInput> {
  const { first: server, second: name, rest } = splitWords(text, "/mcp prompt SERVER NAME");
  const prompts = (await connection.listPrompts({ signal })).filter((prompt) =>
    prompt.server === server
  );
  const names = prompts.map((prompt) => prompt.name);
  const prompt = prompts.find((known) => known.name === name);
  if (!prompt) {
    throw new UsageError(
      `The server ${JSON.stringify(server)} has no prompt ${JSON.stringify(name)}${
        didYouMean(name, names)
      }`,
    );
  }
  const args = parseArguments(rest, prompt);
  const { messages } = await connection.getPrompt({ server, name, arguments: args }, { signal });
  const content = messages.flatMap(({ role, content }): readonly ContentBlock[] =>
    role === "user" ? content : [{ type: "text", text: "The reply to this is:" }, ...content]
  );
  return toInput(content, now);
}

/** Returns the content of a resource with a task, from a text such as `SERVER ADDRESS TASK`. */
export async function requestResource(
  connection: McpConnection,
  text: string,
  { signal, now }: ServerInputOptions,
): Promise<PromptInput> {
  const { first: server, second: uri, rest } = splitWords(text, "/mcp read SERVER ADDRESS [TASK]");
  const content = await connection.readResource({ server, uri }, { signal });
  const task = rest === "" ? [] : [{ type: "text", text: rest } as const];
  return toInput([...task, ...content], now);
}

/** Formats a prompt with its arguments, such as `server name topic=… [style=…]`. */
export function formatPrompt({ server, name, arguments: args = [] }: McpPrompt): string {
  return [server, name, ...args.map(formatArgument)].join(" ");
}

function formatArgument({ name, required }: McpPromptArgument): string {
  return required ? `${name}=…` : `[${name}=…]`;
}

function splitWords(
  text: string,
  usage: string,
): { readonly first: string; readonly second: string; readonly rest: string } {
  const [, first, second, rest = ""] = /^(\S+)\s+(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  if (first === undefined || second === undefined) throw new UsageError(`Write ${usage}`);
  return { first, second, rest };
}

/** Parses arguments such as `topic=history style="very short"`. */
function parseArguments(text: string, prompt: McpPrompt): Record<string, string> {
  const { arguments: known = [] } = prompt;
  const pairs = [...text.matchAll(ARGUMENT)];
  const values = new Map(pairs.map(([, name = "", quoted, plain = ""]) => [name, quoted ?? plain]));
  const names = known.map(({ name }) => name);
  const unknown = [...values.keys()].find((name) => !names.includes(name));
  const missing = known.find(({ name, required }) => required === true && !values.has(name));
  if (text.replaceAll(ARGUMENT, "").trim() !== "" || unknown !== undefined || missing) {
    throw new UsageError(`Write /mcp prompt ${formatPrompt(prompt)}`);
  }
  return Object.fromEntries(values);
}

const ARGUMENT = /([^\s="]+)=(?:"([^"]*)"|([^\s"]*))(?=\s|$)/g;

/** Joins texts; other content needs a message. */
function toInput(content: readonly ContentBlock[], timestamp: number): PromptInput {
  if (content.length === 0) throw new UsageError("The server has returned no content");
  const texts = content.flatMap((block) => block.type === "text" ? [block.text] : []);
  return texts.length === content.length
    ? texts.join("\n\n")
    : [{ role: "user", content: [...content], timestamp }];
}
