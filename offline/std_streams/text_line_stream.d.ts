export interface TextLineStreamOptions {
  /** Also splits at a carriage return alone. */
  allowCR?: boolean;
}

export declare class TextLineStream extends TransformStream<string, string> {
  constructor(options?: TextLineStreamOptions);
}
