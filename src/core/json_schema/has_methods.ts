/**
 * Detection of objects that are more than data, such as the schemas of libraries.
 *
 * @module
 */

/**
 * Whether an object has methods: its own, also hidden ones, or those of its class. No getter is called. Methods of
 * `Object` itself do not count, also not in another realm.
 */
export function hasMethods(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  const properties = Object.entries(Object.getOwnPropertyDescriptors(value));
  const isMethod = properties.some(([name, { value }]) =>
    typeof value === "function" && name !== "constructor"
  );
  return isMethod || (!!prototype && !!Object.getPrototypeOf(prototype) && hasMethods(prototype));
}
