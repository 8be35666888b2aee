/**
 * A host with another output, or without a keyboard.
 *
 * @module
 */

import type { Host } from "./host.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Returns the host with other streams of its terminal. The other properties are read when they are used: a copy would open
 * the keyboard, and keep the size.
 */
export function overrideTerminal<Base extends Host>(
  host: Base,
  streams: Partial<Pick<Terminal, "keyboard" | "output" | "messages">>,
): Base {
  const properties = Object.entries(streams).map(([name, value]) => [name, { value }]);
  return { ...host, terminal: Object.create(host.terminal, Object.fromEntries(properties)) };
}
