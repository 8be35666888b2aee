/**
 * The tools of a session that work through its editor.
 *
 * @module
 */

import { type AcpClient, terminalTool } from "../../src/protocols/acp/mod.ts";
import type { ProjectRunSettings } from "../run/settings/settings.ts";
import type { EditorTools } from "../run/tools/editor_tools.ts";
import { ClientFiles } from "./client_files.ts";

/** Returns the tools of the editor. Where the sandbox must confine commands, and files are read as they are, it has none. */
export function createClientTools(
  { readTextFile, writeTextFile, createTerminal }: AcpClient,
  { sandbox, environment }: Pick<ProjectRunSettings, "sandbox" | "environment">,
): EditorTools {
  const hasFiles = readTextFile !== undefined || writeTextFile !== undefined;
  return {
    ...(hasFiles && {
      wrapFiles: (files) => new ClientFiles(files, { readTextFile, writeTextFile }),
    }),
    // The editor would run commands outside of the sandbox.
    ...(sandbox === "off" && createTerminal && {
      createShell: ({ root }) => terminalTool({ createTerminal, cwd: root, env: environment }),
    }),
  };
}
