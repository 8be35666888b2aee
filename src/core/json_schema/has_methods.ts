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
  for (let object = value; object; object = Object.getPrototypeOf(object)) {
    if (object !== value && Object.getPrototypeOf(object) === null) return false;
    const properties = Object.entries(Object.getOwnPropertyDescriptors(object));
    if (properties.some(([name, property]) => name !== "constructor" && isMethod(property))) {
      return true;
    }
  }
  return false;
}

function isMethod({ value }: PropertyDescriptor): boolean {
  return typeof value === "function";
}
