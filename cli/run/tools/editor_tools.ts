/**
 * Tools that use the files and the terminals of an editor.
 *
 * @module
 */

import type { AgentTool } from "../../../mod.ts";
// Not mod.ts, which loads all tools.
import { createBasicTools, type createToolKit } from "../../../src/tools/basic_tools.ts";
import type { Sandbox, SandboxFiles } from "../../../src/tools/mod.ts";

/** Files and terminals that an editor provides for tools. */
export interface EditorTools {
  /** Returns the files as the editor has them, with the rights of those of the sandbox. Default: the files on disk. */
  readonly wrapFiles?: ((files: SandboxFiles) => SandboxFiles) | undefined;
  /** Creates the tool that runs commands. Default: that of the sandbox. */
  readonly createShell?: ((sandbox: Sandbox) => AgentTool) | undefined;
}

/** The tools that read or change one file; the others work on many files, most of which no editor has open. */
const FILE_TOOLS = ["read_file", "write_file", "edit_file"];

/** Returns the tools, with those in place that an editor provides. */
export function replaceTools(
  tools: readonly AgentTool[],
  { wrapFiles, createShell }: EditorTools,
  kit: ReturnType<typeof createToolKit>,
): AgentTool[] {
  const { sandbox } = kit;
  const files = wrapFiles && createBasicTools({
    ...kit,
    sandbox: withFiles(sandbox, wrapFiles(sandbox.files)),
  });
  return tools.map((tool) => {
    if (tool.name === "bash" && createShell) return createShell(sandbox);
    if (!FILE_TOOLS.includes(tool.name)) return tool;
    return files?.find(({ name }) => name === tool.name) ?? tool;
  });
}

/** Returns a sandbox with other files. */
function withFiles(sandbox: Sandbox, files: SandboxFiles): Sandbox {
  return {
    files,
    root: sandbox.root,
    readOnly: sandbox.readOnly ?? false,
    hidesSecrets: sandbox.hidesSecrets ?? false,
    get net() {
      return sandbox.net;
    },
    setNet: (net) => sandbox.setNet(net),
    startCommand: (command, options) => sandbox.startCommand(command, options),
    getOutputPath: (name) => sandbox.getOutputPath(name),
    describe: () => sandbox.describe(),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}
