/**
 * The roles of text, to which a theme assigns colors.
 *
 * @module
 */

/** Role of a text: what it is, not how it looks. */
export type Role =
  /** Text of the model and everything without another role. */
  | "text"
  /** Secondary text, such as durations and hints. */
  | "faint"
  /** Thinking of the model. */
  | "thinking"
  /** Headings. */
  | "heading"
  /** Links. */
  | "link"
  /** Marks of quotes, rules, fences and tables. */
  | "mark"
  /** Inline code, and code in a block without a known language. */
  | "code"
  /** Keywords of code. */
  | "keyword"
  /** Strings of code. */
  | "string"
  /** Comments of code. */
  | "comment"
  /** Numbers and constants of code. */
  | "number"
  /** Names of types of code. */
  | "type"
  /** Names of functions and keys of code. */
  | "name"
  /** Added lines of a diff. */
  | "added"
  /** Background of added lines whose code is highlighted. */
  | "addedLine"
  /** The changed part of an added line. */
  | "addedWord"
  /** Removed lines of a diff. */
  | "removed"
  /** Background of removed lines whose code is highlighted. */
  | "removedLine"
  /** The changed part of a removed line. */
  | "removedWord"
  /** Paths and positions in a diff. */
  | "hunk"
  /** Names of tools. */
  | "tool"
  /** The tool call or agent that is selected. */
  | "selected"
  /** Success. */
  | "success"
  /** Errors. */
  | "error"
  /** Warnings. */
  | "warning"
  /** The prompt sign and the user's own messages. */
  | "prompt"
  /** Plan mode: its label and its output. */
  | "plan"
  /** The gauge of the context window below 60 %. */
  | "gaugeLow"
  /** The gauge up to 85 %. */
  | "gaugeMedium"
  /** The gauge above 85 %. */
  | "gaugeHigh";
