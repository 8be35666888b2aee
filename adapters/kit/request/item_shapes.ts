/**
 * Shapes of JSON values, for checks of provider items that a history stores.
 *
 * @module
 */

import { isJsonObject } from "../../../src/core/json/json.ts";

/** Whether a value has a certain shape. */
export type Shape = (value: unknown) => boolean;

/** Shapes of the members of an object. Other members may have any value. */
export type MemberShapes = Readonly<Record<string, Shape>>;

/** Any text. */
export const TEXT_SHAPE: Shape = (value: unknown): boolean => typeof value === "string";

/** Any number. */
export const NUMBER_SHAPE: Shape = (value: unknown): boolean => typeof value === "number";

/** Any boolean. */
export const BOOLEAN_SHAPE: Shape = (value: unknown): boolean => typeof value === "boolean";

/** Any object. */
export const OBJECT_SHAPE: Shape = isJsonObject;

/** An object with the name of its type. */
export const TYPED_OBJECT_SHAPE: Shape = objectShape({ type: TEXT_SHAPE });

/** Creates the shape of texts that match a pattern. */
export function patternShape(pattern: RegExp): Shape {
  return (value) => typeof value === "string" && pattern.test(value);
}

/** Creates the shape of a value that may be missing or `null`. */
export function optionalShape(shape: Shape): Shape {
  return (value) => value === undefined || value === null || shape(value);
}

/** Creates the shape of lists. */
export function listShape(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape);
}

/** Creates the shape of objects with certain members. */
export function objectShape(members: MemberShapes): Shape {
  return (value) => {
    if (!isJsonObject(value)) return false;
    return Object.entries(members).every(([name, shape]) => shape(value[name]));
  };
}

/** Creates the shape of values that have one of several shapes. */
export function unionShape(...shapes: readonly Shape[]): Shape {
  return (value) => shapes.some((shape) => shape(value));
}

/** Creates the shape of objects by the name of their type; an object of another type has the shape only if `others` allows it. */
export function typedShape(
  types: Readonly<Record<string, MemberShapes>>,
  others: Shape = () => false,
): Shape {
  return (value) => {
    const type = isJsonObject(value) ? value["type"] : undefined;
    if (typeof type !== "string") return false;
    const members = Object.hasOwn(types, type) ? types[type] : undefined;
    return members ? objectShape(members)(value) : others(value);
  };
}
