export { type AdminListener, adminListener, type AdminListenerOptions } from './adminListener.ts';
