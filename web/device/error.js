// SPDX-License-Identifier: Apache-2.0
/** What a device refuses, and why. */
export class DeviceError extends Error {
  /** @param {string} code as in tacet/core/status.h */
  constructor(code, message, options) {
    super(message, options);
    this.name = 'DeviceError';
    this.code = code;
  }
}
