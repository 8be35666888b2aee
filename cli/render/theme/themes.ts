/**
 * The themes of the program.
 *
 * @module
 */

import type { Role } from "./role.ts";
import type { BasicColor, Color, Look, Theme, ThemeName } from "./theme.ts";

function color(rgb: string, basic: BasicColor): Color {
  return { rgb, basic };
}

/** Light characters on a dark background. */
const DARK: Readonly<Record<Role, Look>> = {
  text: {},
  faint: { dim: true },
  thinking: { dim: true, italic: true },
  heading: { bold: true, color: color("#7aa2f7", "brightBlue") },
  link: { underline: true, color: color("#56b6c2", "cyan") },
  mark: { dim: true },
  code: { color: color("#e0af68", "yellow") },
  keyword: { color: color("#bb9af7", "magenta") },
  string: { color: color("#9ece6a", "green") },
  comment: { color: color("#9097aa", "gray"), italic: true },
  number: { color: color("#ff9e64", "yellow") },
  type: { color: color("#2ac3de", "cyan") },
  name: { color: color("#7aa2f7", "brightBlue") },
  added: { color: color("#7ee787", "green") },
  addedLine: { background: color("#10291a", "black") },
  addedWord: { color: color("#ffffff", "brightWhite"), background: color("#1f6f3a", "green") },
  removed: { color: color("#ff7b72", "red") },
  removedLine: { background: color("#331517", "black") },
  removedWord: { color: color("#ffffff", "brightWhite"), background: color("#8b2c2c", "red") },
  hunk: { color: color("#56b6c2", "cyan") },
  tool: { color: color("#56b6c2", "cyan") },
  selected: { inverse: true },
  success: { color: color("#7ee787", "green") },
  error: { color: color("#ff7b72", "red") },
  warning: { color: color("#e3b341", "yellow") },
  prompt: { bold: true, color: color("#bb9af7", "brightMagenta") },
  plan: { bold: true, color: color("#e3b341", "yellow") },
  gaugeLow: { color: color("#7ee787", "green") },
  gaugeMedium: { color: color("#e3b341", "yellow") },
  gaugeHigh: { color: color("#ff7b72", "red") },
};

/** Dark characters on a light background. */
const LIGHT: Readonly<Record<Role, Look>> = {
  text: {},
  faint: { color: color("#656d76", "gray") },
  thinking: { color: color("#656d76", "gray"), italic: true },
  heading: { bold: true, color: color("#0550ae", "blue") },
  link: { underline: true, color: color("#0969da", "blue") },
  mark: { color: color("#656d76", "gray") },
  code: { color: color("#953800", "magenta") },
  keyword: { color: color("#6f42c1", "magenta") },
  string: { color: color("#116329", "green") },
  comment: { color: color("#656d76", "gray"), italic: true },
  number: { color: color("#953800", "red") },
  type: { color: color("#0a6b7d", "cyan") },
  name: { color: color("#0550ae", "blue") },
  added: { color: color("#116329", "green") },
  addedLine: { background: color("#e2f8e7", "white") },
  addedWord: { color: color("#000000", "black"), background: color("#aceebb", "green") },
  removed: { color: color("#a40e26", "red") },
  removedLine: { background: color("#fdeceb", "white") },
  removedWord: { color: color("#000000", "black"), background: color("#ffc1c0", "red") },
  hunk: { color: color("#0a6b7d", "cyan") },
  tool: { color: color("#0a6b7d", "cyan") },
  selected: { inverse: true },
  success: { color: color("#116329", "green") },
  error: { color: color("#a40e26", "red") },
  warning: { color: color("#7d4e00", "magenta") },
  prompt: { bold: true, color: color("#6f42c1", "magenta") },
  plan: { bold: true, color: color("#7d4e00", "magenta") },
  gaugeLow: { color: color("#116329", "green") },
  gaugeMedium: { color: color("#7d4e00", "magenta") },
  gaugeHigh: { color: color("#a40e26", "red") },
};

/** Saturated colors on a dark background; nothing is dimmed or italic. */
const HIGH_CONTRAST: Readonly<Record<Role, Look>> = {
  text: { color: color("#ffffff", "brightWhite") },
  faint: { color: color("#e6e6e6", "white") },
  thinking: { color: color("#e6e6e6", "white") },
  heading: { bold: true, underline: true, color: color("#ffffff", "brightWhite") },
  link: { underline: true, color: color("#66e0ff", "brightCyan") },
  mark: { color: color("#e6e6e6", "white") },
  code: { color: color("#ffff66", "brightYellow") },
  keyword: { bold: true, color: color("#ff99ff", "brightMagenta") },
  string: { color: color("#66ff66", "brightGreen") },
  comment: { color: color("#e6e6e6", "white") },
  number: { color: color("#ffff66", "brightYellow") },
  type: { color: color("#66e0ff", "brightCyan") },
  name: { bold: true, color: color("#ffffff", "brightWhite") },
  added: { color: color("#66ff66", "brightGreen") },
  addedLine: {},
  addedWord: {
    bold: true,
    color: color("#000000", "black"),
    background: color("#66ff66", "green"),
  },
  removed: { color: color("#ff8080", "brightRed") },
  removedLine: {},
  removedWord: {
    bold: true,
    color: color("#000000", "black"),
    background: color("#ff8080", "brightRed"),
  },
  hunk: { color: color("#66e0ff", "brightCyan") },
  tool: { bold: true, color: color("#66e0ff", "brightCyan") },
  selected: { bold: true, inverse: true },
  success: { color: color("#66ff66", "brightGreen") },
  error: { bold: true, color: color("#ff8080", "brightRed") },
  warning: { bold: true, color: color("#ffff66", "brightYellow") },
  prompt: { bold: true, color: color("#ff99ff", "brightMagenta") },
  plan: { bold: true, color: color("#ffff66", "brightYellow") },
  gaugeLow: { color: color("#66ff66", "brightGreen") },
  gaugeMedium: { bold: true, color: color("#ffff66", "brightYellow") },
  gaugeHigh: { bold: true, color: color("#ff8080", "brightRed") },
};

/** No colors: weight, slant and lines alone. */
const MONO: Readonly<Record<Role, Look>> = {
  text: {},
  faint: { dim: true },
  thinking: { dim: true, italic: true },
  heading: { bold: true },
  link: { underline: true },
  mark: { dim: true },
  code: { bold: true },
  keyword: { bold: true },
  string: {},
  comment: { dim: true, italic: true },
  number: {},
  type: {},
  name: {},
  added: { bold: true },
  addedLine: {},
  addedWord: { bold: true, inverse: true },
  removed: { dim: true },
  removedLine: {},
  removedWord: { inverse: true },
  hunk: { underline: true },
  tool: { bold: true },
  selected: { inverse: true },
  success: {},
  error: { bold: true, underline: true },
  warning: { bold: true },
  prompt: { bold: true },
  plan: { bold: true, inverse: true },
  gaugeLow: {},
  gaugeMedium: { bold: true },
  gaugeHigh: { bold: true, inverse: true },
};

/** The themes by name. */
export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  dark: { name: "dark", looks: DARK },
  light: { name: "light", looks: LIGHT },
  high_contrast: { name: "high_contrast", looks: HIGH_CONTRAST },
  mono: { name: "mono", looks: MONO },
};
