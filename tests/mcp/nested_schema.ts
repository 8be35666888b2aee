/**
 * A schema that is nested.
 *
 * @module
 */

/** Returns a schema with objects in each other. */
export function nest(depth: number): object {
  let schema: object = { type: "object" };
  for (let level = 0; level < depth; level++) {
    schema = { type: "object", properties: { a: schema } };
  }
  return schema;
}
