/**
 * The open session, for commands that need it.
 *
 * @module
 */

import type { Session } from "../../../src/memory/mod.ts";
import { CliError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import type { SessionControl } from "./command_context.ts";

/**
 * Returns the session.
 *
 * @throws {CliError} If the conversation is not saved.
 */
export function requireSession({ session }: Pick<SessionControl, "session">): Session {
  if (session) return session;
  throw new CliError("This conversation is not saved, so it has no earlier states", {
    exitCode: ExitCode.failed,
  });
}
