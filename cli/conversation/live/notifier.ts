/**
 * Notifications of the user whose terminal is in the background.
 *
 * @module
 */

import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import type { Notification } from "../view/conversation_view.ts";

/** Duration of a run whose end is reported. */
const LONG_RUN_MS = 10_000;

/** How the user is notified: by a message of the terminal (OSC 9), by its bell, or not at all. */
export type NotificationWay = "osc9" | "bell" | "off";

/** Creates the sequences of notifications. */
export class Notifier {
  readonly #way: NotificationWay;

  constructor(way: NotificationWay) {
    this.#way = way;
  }

  /** Returns the sequence of a notification; `undefined` if there is none. */
  getSequence(notification: Notification): string | undefined {
    if (notification.type === "ended" && notification.durationMs < LONG_RUN_MS) return undefined;
    switch (this.#way) {
      case "osc9":
        return `\x1b]9;${toOneLine(toPlainText(notification.text))}\x07`;
      case "bell":
        return "\x07";
      case "off":
        return undefined;
    }
  }
}
