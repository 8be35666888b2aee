/**
 * Conversion of the tools that a provider runs itself.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import type { ServerTool } from "../../../src/core/streams/server_tool.ts";
import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import { getProviderAliases } from "../../catalog/provider_aliases.ts";
import type { WarningSink } from "./warnings.ts";

/** Conversion of one type of tool. */
export interface ServerToolFormat<Tool extends ServerTool> {
  /** Options that the provider supports. */
  readonly supports: readonly Exclude<keyof Tool, "type">[];
  /** Creates the entry of `tools`. */
  readonly create: (tool: Tool) => JsonObject;
}

/** Conversion of the tools that a provider has; other types are omitted with a warning. */
export type ServerToolFormats = {
  readonly [Type in Exclude<ServerTool["type"], "provider_tool">]?: ServerToolFormat<
    Extract<ServerTool, { type: Type }>
  >;
};

/** Converts the server tools of a request. Tools and options that the provider does not have are omitted with a warning. */
export function toServerTools(
  { options, model }: StreamRequest,
  formats: ServerToolFormats,
  sink: WarningSink,
): JsonObject[] {
  const { provider } = model;
  return (options.serverTools ?? []).flatMap((tool) => {
    if (tool.type === "provider_tool") {
      if (getProviderAliases(tool.provider).includes(provider)) return [tool.definition];
      sink.warning("server_tools_left_out", `${provider} does not have a tool of ${tool.provider}`);
      return [];
    }
    const format = formats[tool.type] as ServerToolFormat<typeof tool> | undefined;
    if (format) return [convertTool(tool, format, sink)];
    sink.warning("server_tools_left_out", `${provider} does not support ${tool.type} here`);
    return [];
  });
}

function convertTool<Tool extends ServerTool>(
  tool: Tool,
  { supports, create }: ServerToolFormat<Tool>,
  sink: WarningSink,
): JsonObject {
  const supported = new Set<string>(["type", ...supports.map(String)]);
  const entries = Object.entries(tool).filter(([, value]) => value !== undefined);
  for (const [option] of entries) {
    if (supported.has(option)) continue;
    sink.warning("server_tools_changed", `${tool.type} of the provider has no option ${option}`);
  }
  const known = Object.fromEntries(entries.filter(([option]) => supported.has(option)));
  return omitUndefined(create(known as Tool));
}

/** Returns the function tools of a request without those that a provider tool of the same name replaces. */
export function omitReplaced<Tool extends { readonly name: string }>(
  tools: readonly Tool[],
  serverTools: readonly JsonObject[],
): readonly Tool[] {
  const names = new Set(serverTools.map(({ name }) => name));
  return tools.filter(({ name }) => !names.has(name));
}

function omitUndefined(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
