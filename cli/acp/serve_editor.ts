/**
 * The action of `swink acp`.
 *
 * @module
 */

import { noteStartedProgram } from "../../src/platform/started_programs.ts";
import { serveAcp } from "../../src/protocols/acp/mod.ts";
import { ACP_PACKAGE } from "../../src/protocols/acp/sdk_package.ts";
import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { describeMissingPackage } from "../host/installed_package.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { overrideTerminal } from "../host/override_terminal.ts";
import type { Output } from "../host/terminal.ts";
import { openConnection } from "../run/model/model_connection.ts";
import { configureRun } from "../run/settings/configure_run.ts";
import { parseRunSettings } from "../run/settings/settings.ts";
import { type AcpCommandLine, createEditorHost } from "./editor_host.ts";
import { toRunOptions } from "./run_options.ts";

/** Serves an editor until it closes the connection. */
export async function serveEditor(
  commandLine: AcpCommandLine,
  systemHost: Host,
): Promise<ExitCode> {
  using interrupt = new InterruptHandler(systemHost);
  if (commandLine.options.login) return await logIn(commandLine, interrupt, systemHost);
  const { input, output } = systemHost.terminal;
  if (input.isTerminal) {
    throw new UsageError(
      "swink acp is started by an editor, which writes to its standard input",
      "Add it to the settings of the editor (docs/acp.md). At a terminal: swink",
    );
  }
  const missing = describeMissingPackage(ACP_PACKAGE.name, "Editors");
  if (missing !== undefined) throw new ConfigurationError(missing);
  // Its commands may run in the terminal of the editor.
  noteStartedProgram();
  const host = separateProtocol(systemHost);
  const options = toRunOptions(commandLine.options);
  // Invalid options are reported before an editor sends anything.
  const configured = await configureRun(
    { options, given: commandLine.given, ignoresProject: true },
    interrupt.signal,
    host,
  );
  await using connection = await openConnection(parseRunSettings(configured), host);
  using _watch = systemHost.terminal.watchOutput();
  const editorHost = createEditorHost({ commandLine, connection, interrupt, host });
  await serveAcp(editorHost, {
    input: input.bytes,
    output: toStream(output),
    signal: AbortSignal.any([interrupt.signal, output.closed]),
    now: host.now,
    experimentalV2: commandLine.options.draftProtocol,
  });
  return interrupt.exitCode ?? (output.closed.aborted ? ExitCode.brokenPipe : ExitCode.ok);
}

/** Returns the host whose output is on standard error, and which asks nothing: the protocol has both streams. */
function separateProtocol(host: Host): Host {
  return overrideTerminal(host, { output: host.terminal.messages, keyboard: undefined });
}

function toStream(output: Output): WritableStream<Uint8Array> {
  return new WritableStream({ write: (bytes) => output.write(bytes) });
}

/** Asks for a model and its key. */
async function logIn(
  { options, given }: AcpCommandLine,
  interrupt: InterruptHandler,
  host: Host,
): Promise<ExitCode> {
  const { providers } = await configureRun(
    { options: toRunOptions(options), given, ignoresProject: true },
    interrupt.signal,
    host,
  );
  const { askForModel } = await importLate<typeof import("../wizard/model_wizard.ts")>(
    "../wizard/model_wizard.ts",
    import.meta.url,
  );
  if (!host.terminal.keyboard) {
    throw new ConfigurationError(
      "There is no terminal for questions",
      "Save a key with: swink login PROVIDER",
    );
  }
  const end = await askForModel({ providers, signal: interrupt.signal }, host);
  return end === "saved" ? ExitCode.ok : interrupt.exitCode ?? ExitCode.failed;
}
