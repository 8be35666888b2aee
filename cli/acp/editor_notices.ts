/**
 * The notices of a session of an editor.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import type { Output } from "../host/terminal.ts";
import { toPlainText } from "../render/plain_text.ts";
import type { Reporter, RunStart } from "../render/reporter.ts";

/** Writes what the editor does not show to standard error. */
export class EditorNotices implements Pick<Reporter, "onRunStart" | "onNotice"> {
  readonly #messages: Output;

  constructor({ terminal }: Pick<Host, "terminal">) {
    this.#messages = terminal.messages;
  }

  /** Reports files of the project that the session does not load. */
  async onRunStart({ project: { ignored } }: RunStart): Promise<void> {
    if (ignored.length > 0) await this.warn([`${ignored.join(", ")} not loaded: ${TRUST}`]);
  }

  async onNotice(notice: string): Promise<void> {
    await this.#messages.write(`${toPlainText(notice)}\n`);
  }

  async warn(warnings: readonly string[]): Promise<void> {
    for (const warning of warnings) await this.onNotice(`warning: ${warning}`);
  }
}

/** How the files of a project are loaded. */
const TRUST = "start swink once in the project, or add --trust to the command of the agent";
