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
 * @throws {CliError} If no prompt has been sent yet, or the conversation is not saved.
 */
export function requireSession(
  { session, isPending }: Pick<SessionControl, "session" | "isPending">,
): Session {
  if (session) return session;
  if (isPending) {
    throw new CliError("There is no session yet: it begins with the first prompt", {
      exitCode: ExitCode.failed,
    });
  }
  throw new CliError("This conversation is not saved", {
    exitCode: ExitCode.failed,
    advice: "#copy all copies it.",
  });
}
