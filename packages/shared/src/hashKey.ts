import { createHash } from 'node:crypto';

/** The part of a key in a database that stands for a text of users, which may contain a credential. */
export const hashKey = (text: string): string => createHash('sha256').update(text).digest('base64url');
