import type { SpooledFile } from '../../http/upload.ts';
import type { FormFields } from './formFields.ts';

/** A body that is passed on as it arrives, or kept outside of memory. */
export class Upload {
  /** What the procedure takes: of a form with files that are streamed, these. */
  readonly content: unknown;
  /** The texts of a form with files that are streamed. */
  readonly fields: FormFields | undefined;
  readonly #close: (() => Promise<unknown>) | undefined;

  constructor(content: unknown, fields?: FormFields, close?: () => Promise<unknown>) {
    this.content = content;
    this.fields = fields;
    this.#close = close;
  }

  /** The call has ended. */
  close(): void {
    // What is left behind is the file system's to clear.
    this.#close?.().catch(() => {});
  }
}

/** Deletes files, whatever happens to any of them. */
export const removeAll = (files: readonly SpooledFile[]): Promise<unknown> =>
  Promise.allSettled(files.map((file) => file.remove()));
