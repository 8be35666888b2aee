/**
 * The normal screen of a terminal while another program uses it.
 *
 * @module
 */

import type { Output } from "../host/terminal.ts";
import type { ScreenSize } from "./live_region.ts";

/** The screen below which another program was started. */
export interface KeptScreen {
  /**
   * Returns to the normal screen after a program that has not left the alternate one, such as an editor that was killed.
   * The cursor is where it was before the program, so that nothing above is erased.
   */
  restore(): Promise<void>;
  /** Forgets where the cursor was, because something else has been written below, such as by a shell. */
  forgetPosition(): void;
}

/** Options for `keepScreen()`. */
export interface KeepScreenOptions {
  /** The terminal. */
  readonly output: Pick<Output, "write">;
  /** Returns the size of the terminal. */
  readonly getSize: () => ScreenSize;
}

const SAVE_CURSOR = "\x1b7";
const RESTORE_CURSOR = "\x1b8";

/** Without an effect on the normal screen; 1049 would move the cursor there. */
const LEAVE_ALTERNATE_SCREEN = "\x1b[?47l";

/** Shows the cursor, and ends the style of the program. */
const RESET = "\x1b[?25h\x1b[m";

/** Moves to a new row below everything; the largest row of a screen is used for a larger one. */
const TO_NEW_ROW = "\x1b[9999;1H\r\n";

/** Remembers the cursor before another program is started. */
export async function keepScreen({ output, getSize }: KeepScreenOptions): Promise<KeptScreen> {
  const { columns, rows } = getSize();
  const write = (text: string) => output.write(text).catch(() => {});
  await write(SAVE_CURSOR);
  let isKnown = true;
  return {
    forgetPosition() {
      isKnown = false;
    },
    async restore() {
      const size = getSize();
      // After a resize, the saved position may be that of output.
      const isSame = size.columns === columns && size.rows === rows;
      const position = isKnown && isSame ? RESTORE_CURSOR : TO_NEW_ROW;
      await write(LEAVE_ALTERNATE_SCREEN + position + RESET);
    },
  };
}
