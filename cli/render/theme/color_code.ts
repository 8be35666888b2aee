/**
 * Parameters of the escape sequences for colors and looks (ECMA-48, SGR).
 *
 * @module
 */

import type { ColorLevel } from "./display.ts";
import type { BasicColor, Color, Look } from "./theme.ts";

/** Parameters of the 16 colors for characters; those of backgrounds are 10 higher. */
const BASIC_CODES: Readonly<Record<BasicColor, number>> = {
  black: 30,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
  white: 37,
  gray: 90,
  brightRed: 91,
  brightGreen: 92,
  brightYellow: 93,
  brightBlue: 94,
  brightMagenta: 95,
  brightCyan: 96,
  brightWhite: 97,
};

/** Brightness of the levels of each channel in the cube of 216 colors. */
const CUBE_LEVELS = [0, 95, 135, 175, 215, 255] as const;

/** Returns the parameters of a look, joined by `;`; empty when it has none. */
export function getLookCode(look: Look, colors: ColorLevel): string {
  if (colors === "none") return "";
  const codes = [
    look.bold ? "1" : "",
    look.dim ? "2" : "",
    look.italic ? "3" : "",
    look.underline ? "4" : "",
    look.inverse ? "7" : "",
    look.strike ? "9" : "",
    look.color ? getColorCode(look.color, { colors, isBackground: false }) : "",
    look.background ? getColorCode(look.background, { colors, isBackground: true }) : "",
  ];
  return codes.filter((code) => code !== "").join(";");
}

function getColorCode(
  { rgb, basic }: Color,
  { colors, isBackground }: { readonly colors: ColorLevel; readonly isBackground: boolean },
): string {
  const prefix = isBackground ? 48 : 38;
  switch (colors) {
    case "none":
      return "";
    case "basic":
      return String(BASIC_CODES[basic] + (isBackground ? 10 : 0));
    case "indexed":
      return `${prefix};5;${findNearestIndex(parseRgb(rgb))}`;
    case "true_color":
      return `${prefix};2;${parseRgb(rgb).join(";")}`;
  }
}

/** Red, green and blue, from 0 to 255. */
type Rgb = readonly [red: number, green: number, blue: number];

function parseRgb(rgb: string): Rgb {
  const value = Number.parseInt(rgb.slice(1), 16);
  return [value >> 16 & 255, value >> 8 & 255, value & 255];
}

/** Finds the nearest color of the cube and the gray scale of a terminal with 256 colors. */
function findNearestIndex(rgb: Rgb): number {
  const [red, green, blue] = rgb.map(findNearestLevel);
  const levels = [red ?? 0, green ?? 0, blue ?? 0] as const;
  const cube = levels.map((level) => CUBE_LEVELS[level] ?? 0);
  const gray = Math.round((rgb[0] + rgb[1] + rgb[2]) / 3);
  const step = Math.min(23, Math.max(0, Math.round((gray - 8) / 10)));
  const shade = 8 + step * 10;
  if (getDistance(rgb, [shade, shade, shade]) < getDistance(rgb, cube)) return 232 + step;
  return 16 + 36 * levels[0] + 6 * levels[1] + levels[2];
}

function findNearestLevel(value: number): number {
  const distances = CUBE_LEVELS.map((level) => Math.abs(level - value));
  return distances.indexOf(Math.min(...distances));
}

function getDistance(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, index) => sum + (value - (right[index] ?? 0)) ** 2, 0);
}
