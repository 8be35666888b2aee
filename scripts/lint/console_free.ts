import { isCodeIn } from "./directories.ts";

/** Keeps `console` out of shipped code: the library does not log, and the program writes to its terminal port. */
export const consoleFree: Deno.lint.Rule = {
  create(context) {
    if (!isCodeIn("src|adapters|cli", context.filename)) return {};
    return {
      'MemberExpression[object.name="console"]'(node: Deno.lint.MemberExpression) {
        context.report({ node, message: "Shipped code must not write to the console." });
      },
    };
  },
};
