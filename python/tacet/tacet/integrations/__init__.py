# SPDX-License-Identifier: Apache-2.0
"""Where tacet meets other tools."""
